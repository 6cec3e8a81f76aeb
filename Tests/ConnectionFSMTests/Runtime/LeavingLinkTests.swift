import ConnectionFSM
import Testing

/// Writes down how links end.
private final class Ends: TransportObserver {
  private(set) var events: [TransportEvent] = []

  func transport(_ epoch: Epoch, reports event: TransportEvent) {
    switch event {
    case .closed, .failed: events.append(event)
    case .opened, .received, .pong, .written, .acknowledged, .writabilityChanged,
      .viabilityChanged, .drainRequested, .betterPathAvailable:
      break
    }
  }

  func transport(_ epoch: Epoch, received message: Message) {}
}

@Suite("StreamTransport: a link whose engine has announced the end")
struct LeavingLinkTests {
  /// How a link ends whose peer says goodbye and is then gone, as the stream tells it.
  private func end(
    isLeaving: Bool, lastWords: [EngineEvent] = [], _ goodbye: (ScriptedStream) -> Void
  ) throws -> [TransportEvent] {
    let loop = ManualLoop()
    let dialer = ScriptedDialer(loop)
    let script = ScriptedEngine.Script()
    script.answers = [isLeaving ? [.ending] : [], lastWords]
    let transport = StreamTransport(dialer) { ScriptedEngine(script) }
    let ends = Ends()
    transport.open(Epoch(1), to: Endpoint(host: "home", port: 1), with: nil, observer: ends)
    let stream = dialer.streams[0]
    stream.observer?.streamOpened()
    stream.inbound = [.bytes(1)]
    stream.observer?.streamReadable()
    #expect(ends.events == [])
    goodbye(stream)
    if !stream.isClosed { transport.send(Message("x"), id: nil, on: Epoch(1), more: false) }
    loop.advance(by: .zero)
    return ends.events
  }

  @Test("I8: the engine's end stands when the peer resets instead of finishing")
  func reset() throws {
    let reset: (ScriptedStream) -> Void = {
      $0.inbound = [.failed(.system(.connectionReset))]
      $0.observer?.streamReadable()
    }
    #expect(try end(isLeaving: true, reset) == [.closed(nil)])
    #expect(try end(isLeaving: false, reset) == [.failed(.system(.connectionReset))])
  }

  @Test("I8: the engine's end stands when nobody is left to hear the last words")
  func unheard() throws {
    let unheard: (ScriptedStream) -> Void = { $0.writes = [.failed(.system(.brokenPipe))] }
    #expect(try end(isLeaving: true, unheard) == [.closed(nil)])
    #expect(try end(isLeaving: false, unheard) == [.failed(.system(.brokenPipe))])
  }

  @Test("I8: the engine's end stands behind as many last words as a turn reports")
  func unheardBehindManyWords() throws {
    for count in 254...257 {
      let words = (0..<count).map { EngineEvent.message(Message("\($0)")) }
      let ends = try end(isLeaving: true, lastWords: words) {
        $0.writes = [.failed(.system(.brokenPipe))]
        $0.inbound = [.bytes(1)]
      }
      #expect(ends == [.closed(nil)], "\(count) words")
    }
  }
}
