import ConnectionFSM
import Testing
import Transports

@Suite("A broken outbox file", .timeLimit(.minutes(2)))
struct OutboxDamageTests {
  /// After so many bytes, this is what a file holds.
  private struct Step {
    let size: Int
    let held: [KeptMessage]
  }

  /// A small file, and what it held after each record.
  private static func steps(in folder: OutboxFolder) async throws -> [Step] {
    let messages: [Message?] = [
      Message("first"), Message(bytes: [0, 0, 0, 0], kind: .binary), nil, Message(""),
      Message(bytes: [1], kind: .unknown(3)), nil, Message(bytes: Array("[1]".utf8), kind: .object),
    ]
    var held: [KeptMessage] = []
    var steps = [Step(size: 32, held: [])]
    for message in messages {
      let outbox = try folder.open()
      if let message {
        held.append(KeptMessage(number: try await outbox.keep(message).get(), message: message))
      } else {
        outbox.forget(held.removeFirst().number)
      }
      await outbox.close()
      steps.append(Step(size: try folder.bytes.count, held: held))
    }
    return steps
  }

  @Test("its bytes stay what they are from version to version")
  func golden() async throws {
    let folder = try OutboxFolder(inMemory: true)
    let outbox = try folder.open()
    let number = try await outbox.keep(Message(bytes: [0xab, 0xcd], kind: .unknown(7))).get()
    outbox.forget(number)
    await outbox.close()
    // The checksums were computed by another program.
    let head = "66736d6f75746278010000000100000000000000200000000000000078e7d50d"
    let kept = "0200000001030700010000000000000020000000000000006342fb0aabcdd0c9ffe9"
    let ended = "000000000201000001000000000000004200000000000000f5683d7b"
    let bytes = try folder.bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    #expect(bytes == head + kept + ended)
  }

  @Test("RC199: cut at any byte, it gives what was whole before, and tells of the torn tail")
  func truncated() async throws {
    let source = try OutboxFolder()
    let steps = try await Self.steps(in: source)
    let bytes = try source.bytes
    for length in OutboxFolder.headSize...bytes.count {
      let step = try #require(steps.last { $0.size <= length })
      let folder = try OutboxFolder(inMemory: true)
      try folder.put(Array(bytes[..<length]))
      let outbox = try folder.open(calls: .unsynced)
      #expect(outbox.recovered == step.held, "\(length) bytes")
      let torn = length - step.size
      #expect(
        outbox.tornTail == (torn == 0 ? nil : TornTail(offset: step.size, bytes: torn)),
        "\(length) bytes")
      // And it goes on as if nothing had been there.
      let number = try await outbox.keep("next")
      await outbox.close()
      let next = try folder.open(calls: .unsynced)
      #expect(
        next.recovered == step.held + [KeptMessage(number: number, message: Message("next"))])
      #expect(next.tornTail == nil)
    }
  }

  @Test("of its head, all is there or nothing: anything between is told as damage")
  func truncatedHead() async throws {
    let source = try OutboxFolder()
    _ = try await Self.steps(in: source)
    let bytes = try source.bytes
    for length in 0..<OutboxFolder.headSize {
      let folder = try OutboxFolder(inMemory: true)
      try folder.put(Array(bytes[..<length]))
      if length == 0 {
        #expect(try folder.open().recovered.isEmpty)
      } else {
        let error = #expect(throws: FileOutboxError.self) { try folder.open() }
        guard case .damaged(folder.file, offset: 0, _) = error else {
          Issue.record("\(length) bytes: \(String(describing: error))")
          continue
        }
      }
    }
  }

  @Test("a flipped bit at any place is told, with the offset of its record; nothing is changed")
  func flipped() async throws {
    let source = try OutboxFolder()
    let steps = try await Self.steps(in: source)
    let bytes = try source.bytes
    let folder = try OutboxFolder(inMemory: true)
    for place in bytes.indices {
      for bit in 0..<8 {
        var broken = bytes
        broken[place] ^= 1 << bit
        try folder.put(broken)
        let error = #expect(throws: FileOutboxError.self) { try folder.open(calls: .unsynced) }
        let offset = place < 32 ? 0 : steps.last { $0.size <= place }?.size
        switch error {
        case .otherFormat(folder.file): #expect(place < 8)
        case .damaged(folder.file, offset, _): #expect(place >= 8)
        default: Issue.record("byte \(place): \(String(describing: error))")
        }
        #expect(try folder.bytes == broken)
      }
    }
  }

  @Test("what a compaction has written was safe: that any of it is missing is damage")
  func truncatedCompaction() async throws {
    let source = try OutboxFolder()
    let outbox = try source.open(compactsFrom: 1)
    let ended = try await outbox.keep(Message(bytes: [UInt8](repeating: 0, count: 200))).get()
    _ = try await outbox.keep(Message(bytes: [UInt8](repeating: 0, count: 20))).get()
    outbox.forget(ended)
    await outbox.close()
    let bytes = try source.bytes
    #expect(bytes.count == 32 + 28 + 24)
    for length in OutboxFolder.headSize..<bytes.count {
      let folder = try OutboxFolder(inMemory: true)
      try folder.put(Array(bytes[..<length]))
      let error = #expect(throws: FileOutboxError.self) { try folder.open(calls: .unsynced) }
      guard case .damaged(folder.file, offset: 32, _) = error else {
        Issue.record("\(length) bytes: \(String(describing: error))")
        continue
      }
    }
  }

  @Test("a file of a later version is refused, and left alone")
  func laterVersion() throws {
    let folder = try OutboxFolder(inMemory: true)
    // As above, but for the version.
    let checked: [UInt8] = [0xb2, 0xaa, 0x7c, 0xa2]
    let head =
      Array("fsmoutbx".utf8) + [2, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 7)
      + [32] + [UInt8](repeating: 0, count: 7) + checked
    try folder.put(head)
    #expect(throws: FileOutboxError.unknownVersion(2, path: folder.file)) { try folder.open() }
    #expect(try folder.bytes == head)
  }

  @Test("zeros behind the last record are a torn tail, however many")
  func zeros() async throws {
    let folder = try OutboxFolder(inMemory: true)
    let steps = try await Self.steps(in: folder)
    let bytes = try folder.bytes
    for count in [1, 27, 28, 29, 511, 512, 513, 5000] {
      try folder.put(bytes + [UInt8](repeating: 0, count: count))
      let outbox = try folder.open()
      #expect(outbox.recovered == steps.last?.held)
      #expect(outbox.tornTail == TornTail(offset: bytes.count, bytes: count))
      await outbox.close()
      #expect(try folder.bytes == bytes)
    }
  }

  @Test("a sector that never reached the disk ends the file there, unless it was said to be safe")
  func lostSectors() async throws {
    for (fsync, isSafe) in [(FsyncPolicy.never, false), (.everyBatch, true)] {
      let folder = try OutboxFolder(inMemory: true)
      let outbox = try folder.open(fsync: fsync)
      var ends: [Int] = []
      for size in [700, 1500, 600] {
        _ = try await outbox.keep(Message(bytes: [UInt8](repeating: 1, count: size))).get()
        ends.append(try folder.bytes.count)
      }
      await outbox.close()
      // Within the second message, whose neighbours are whole.
      var bytes = try folder.bytes
      bytes.replaceSubrange(1024..<1536, with: repeatElement(0, count: 512))
      try folder.put(bytes)
      if isSafe {
        let error = #expect(throws: FileOutboxError.self) { try folder.open() }
        guard case .damaged(folder.file, offset: ends[0], _) = error else {
          Issue.record("\(String(describing: error))")
          continue
        }
      } else {
        let next = try folder.open()
        #expect(next.recovered.map(\.message.bytes.count) == [700])
        #expect(next.tornTail == TornTail(offset: ends[0], bytes: ends[2] - ends[0]))
        await next.close()
      }
    }
  }
}
