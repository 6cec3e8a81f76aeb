import ConnectionFSM
import Observation
import Testing

@MainActor
@Suite("Connection: on the main actor")
struct MainActorTests {
  @Test("F57: callbacks come on the main actor, in order, until their task is cancelled")
  func callbacks() async throws {
    let rig = try ConnectionRig(policy: plainPolicy())
    let (words, told) = AsyncStream.makeStream(of: String.self)
    var heard = words.makeAsyncIterator()
    let states = rig.connection.onStateChange { told.yield("\($0.phase)") }
    let messages = rig.connection.onMessage { told.yield($0.text) }
    rig.open()
    for phase in ["idle", "connecting", "open"] { #expect(await heard.next() == phase) }
    states.cancel()
    await states.value
    for text in ["a", "b", "c"] { rig.transport.receive(text, on: 1) }
    for text in ["a", "b", "c"] { #expect(await heard.next() == text) }
    messages.cancel()
    await messages.value
    rig.transport.receive("late", on: 1)
    rig.transport.report(.closed(nil), on: 1)
    told.finish()
    #expect(await heard.next() == nil)
  }

  @Test("F57, I17: a callback may call the connection; that takes effect after it")
  func callsBack() async throws {
    let rig = try ConnectionRig(policy: plainPolicy())
    let (answers, told) = AsyncStream.makeStream(of: Void.self)
    let connection = rig.connection
    let task = connection.onMessage { message in
      connection.post(Message("echo \(message.text)"))
      told.yield()
    }
    rig.open()
    rig.transport.receive("a", on: 1)
    for await _ in answers { break }
    rig.loop.settle()
    #expect(rig.transport.orders.last == "send #1 echo a")
    task.cancel()
  }

  @Test("a status for views follows the connection, tells its observers, and holds nothing")
  func status() async throws {
    let rig = try ConnectionRig(policy: plainPolicy())
    var status: ConnectionStatus? = ConnectionStatus(rig.connection)
    weak let gone = status
    rig.connect()
    while gone?.explanation?.phase != .connecting {
      await withCheckedContinuation { continuation in
        withObservationTracking {
          _ = gone?.explanation
        } onChange: {
          continuation.resume()
        }
      }
      // What is observed is told before it changes.
      await Task.yield()
    }
    withExtendedLifetime(status) {}
    status = nil
    #expect(gone == nil)
  }
}
