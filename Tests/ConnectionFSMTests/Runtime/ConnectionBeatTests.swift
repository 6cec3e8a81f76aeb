import ConnectionFSM
import Synchronization
import Testing

private func policy(_ beat: Beat) throws -> Policy {
  try Policy(
    connectDeadline: .seconds(10), closeDeadline: .seconds(5),
    backoff: Backoff(
      first: .seconds(2), base: .seconds(2), cap: .seconds(8), jitter: .none,
      stability: .seconds(10)),
    minimumDialSpacing: .seconds(1), heartbeat: nil, beat: beat,
    lanes: [Lane(.atMostOnce, timeToLive: nil)])
}

private struct BeatRig {
  let loop = ManualLoop()
  let transport: ScriptedTransport
  let connection: Connection

  init(_ beat: Beat, _ message: BeatMessage) throws {
    transport = ScriptedTransport(loop)
    connection = try Connection(transport, policy: policy(beat), seed: 1, beat: message)
    connection.connect(to: home)
    loop.settle()
    transport.report(.opened, on: 1)
  }

  var beats: [String] { transport.orders.filter { $0.hasPrefix("send") } }

  func receive(_ text: String) {
    transport.receive(text, on: 1)
    loop.settle()
  }
}

@Suite("Connection: the application's own heartbeat")
struct ConnectionBeatTests {
  @Test(
    "F42, B0.9: an immediate beat comes with the open, then one each interval, in the app's words")
  func immediate() throws {
    let rig = try BeatRig(Beat(interval: .seconds(180), isImmediate: true), BeatMessage("heart"))
    #expect(rig.beats == ["send #1 heart"])
    rig.loop.advance(by: .seconds(179))
    #expect(rig.beats.count == 1)
    rig.loop.advance(by: .seconds(1))
    #expect(rig.beats.count == 2)
    rig.loop.advance(by: .seconds(180))
    #expect(rig.beats.count == 3)
  }

  @Test("F42: the words are asked for anew at each beat")
  func fresh() throws {
    let count = Counter()
    let rig = try BeatRig(
      Beat(interval: .seconds(10), isImmediate: false),
      BeatMessage { Message("beat \(count.next())") })
    #expect(rig.beats.isEmpty)
    rig.loop.advance(by: .seconds(10))
    rig.loop.advance(by: .seconds(10))
    #expect(rig.beats == ["send #1 beat 1", "send #1 beat 2"])
  }

  @Test("F42, B3.13: an answer ends the wait for it and is no message; without one the link ends")
  func answered() throws {
    let rig = try BeatRig(
      Beat(interval: .seconds(10), isImmediate: false, answerTimeout: .seconds(4)),
      BeatMessage(isAnswer: { $0.text == "yes" }, payload: { Message("alive?") }))
    let heard = Heard()
    let messages = rig.connection.messages()
    Task(executorPreference: rig.loop) {
      for try await message in messages { heard.add(message.text) }
    }
    rig.loop.settle()
    rig.loop.advance(by: .seconds(10))
    rig.receive("yes")
    rig.receive("other")
    #expect(heard.all == ["other"])
    rig.loop.advance(by: .seconds(4))
    #expect(!rig.transport.orders.contains("abort #1"))
    rig.loop.advance(by: .seconds(6))
    rig.loop.advance(by: .seconds(4))
    #expect(rig.transport.orders.contains("abort #1"), "the second beat stays unanswered")
  }

  @Test("I5, I18: no beat follows the close")
  func closed() throws {
    let rig = try BeatRig(Beat(interval: .seconds(10), isImmediate: true), BeatMessage("heart"))
    Task(executorPreference: rig.loop) { [connection = rig.connection] in await connection.close() }
    rig.loop.settle()
    rig.transport.report(.closed(nil), on: 1)
    rig.loop.advance(by: .seconds(3600))
    #expect(rig.beats == ["send #1 heart"])
  }

  @Test("I16: a beat without words, or a wait for an answer without its look, is refused")
  func refused() throws {
    let transport = ScriptedTransport(ManualLoop())
    #expect(throws: ConnectionError.beatNeedsMessage) {
      _ = try Connection(transport, policy: policy(Beat(interval: .seconds(10))), seed: 1)
    }
    let other = ScriptedTransport(ManualLoop())
    #expect(throws: ConnectionError.beatNeedsAnswer) {
      _ = try Connection(
        other, policy: policy(Beat(interval: .seconds(10), answerTimeout: .seconds(4))), seed: 1,
        beat: BeatMessage("heart"))
    }
  }
}

private final class Counter: Sendable {
  private let count = Mutex(0)
  func next() -> Int {
    count.withLock {
      $0 += 1
      return $0
    }
  }
}

private final class Heard: Sendable {
  private let texts = Mutex<[String]>([])
  func add(_ text: String) { texts.withLock { $0.append(text) } }
  var all: [String] { texts.withLock { $0 } }
}
