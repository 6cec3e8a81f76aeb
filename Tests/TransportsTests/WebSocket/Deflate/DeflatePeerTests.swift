import Foundation
import Testing
import Transports
import WireSupport

/// Python's zlib on the other side, which is told the window that was agreed.
@Suite("F26: messages to and from another implementation")
struct DeflatePeerTests {
  /// Reads trials, inflates our messages byte by byte (so that zlib looks no further back than the
  /// window), and deflates what came out. Without takeover it begins anew with each message.
  private static let program = """
    import json, sys, zlib
    tail = b"\\x00\\x00\\xff\\xff"
    def answer(trial):
        unpacker = packer = None
        answers = []
        for message in trial["messages"]:
            if unpacker is None or not trial["takesContextOver"]:
                unpacker = zlib.decompressobj(wbits=-trial["windowBits"])
                packer = zlib.compressobj(trial["level"], zlib.DEFLATED, -trial["windowBits"])
            data = bytes.fromhex(message) + tail
            plain = b"".join(unpacker.decompress(data[i:i + 1]) for i in range(len(data)))
            packed = packer.compress(plain) + packer.flush(zlib.Z_SYNC_FLUSH)
            if packed and not packed.endswith(tail): sys.exit("no tail")
            answers.append({"plain": plain.hex(), "packed": packed[:-4].hex() or "00"})
        return answers
    with open(sys.argv[1]) as file: trials = json.load(file)
    with open(sys.argv[2], "w") as file: json.dump([answer(trial) for trial in trials], file)
    print("done", flush=True)
    sys.stdin.read()
    """

  private struct Trial: Codable {
    let level: Int
    let windowBits: Int
    let takesContextOver: Bool
    let messages: [String]
  }

  private struct Answer: Codable {
    let plain: String
    let packed: String
  }

  private static func hex(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    return String(decoding: text, as: UTF8.self)
  }

  private static let messages =
    (0..<30).map(DeflateSamples.feed)
    + [[], DeflateSamples.random(3000, alphabet: 7, seed: 1), DeflateSamples.feed(1)]
    + [DeflateSamples.random(20_000, alphabet: 1, seed: 2), [], [0, 0, 255, 255]]

  @Test("F26: Python reads ours and we read Python's, in each window, with and without takeover")
  func python() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("deflate-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let plain = Self.messages.map(Self.hex)
    var trials: [Trial] = []
    for bits in 9...15 {
      for takes in [true, false] {
        for level in [1, 6, 9] {
          let deflater = MessageDeflater(level: level, windowBits: bits, takesContextOver: takes)
          trials.append(
            Trial(
              level: level, windowBits: bits, takesContextOver: takes,
              messages: Self.messages.map { Self.hex(deflater.deflate($0)) }))
        }
      }
    }
    let questions = folder.appendingPathComponent("questions")
    let answers = folder.appendingPathComponent("answers")
    try JSONEncoder().encode(trials).write(to: questions)
    let peer = try await PeerProgram.start(
      "python3", ["-c", Self.program, questions.path, answers.path], readiness: .output("done"))
    defer { peer.kill() }
    let read = try JSONDecoder().decode([[Answer]].self, from: Data(contentsOf: answers))
    #expect(read.count == trials.count)
    for (trial, answer) in zip(trials, read) {
      #expect(answer.map(\.plain) == plain, "window \(trial.windowBits)")
      let inflater = MessageInflater(takesContextOver: trial.takesContextOver)
      for (message, packed) in zip(Self.messages, answer.map(\.packed)) {
        let inflated = try inflater.inflate([UInt8](hex: packed))
        #expect(inflated == message, "window \(trial.windowBits)")
      }
    }
  }
}
