import ConnectionFSM
import Transports

/// Dials, reads what comes, writes what it is given, and notes what it hears. Lives on its loop.
final class TestClient: ByteStreamObserver, @unchecked Sendable {
  enum Event: Equatable {
    case opened
    case failed(Cause)
    case end
    case readFailed(Cause)
    case writeFailed(Cause)
  }

  let loop: SocketEventLoop
  private let dialer: TCPDialer
  var stream: TCPStream?
  var events: [Event] = []
  var received: [UInt8] = []
  /// Still to be written.
  var pending: ArraySlice<UInt8> = []
  /// Whether it leaves what arrives unread, for one turn each time; the loop is kept busy by that.
  var isStalled = false
  var partialWrites = 0
  var blockedWrites = 0
  /// Called after each event.
  var onEvent: (Event) -> Void = { _ in }
  /// Called when there is something to read, before it is read.
  var onReadable: () -> Void = {}
  private var buffer = [UInt8](repeating: 0, count: 16384)

  init(
    _ loop: SocketEventLoop, resolver: Resolver = .shared, timing: DialTiming = .standard,
    options: TCPOptions = .standard
  ) {
    self.loop = loop
    dialer = TCPDialer(loop: loop, resolver: resolver, timing: timing, options: options)
  }

  var isOpen: Bool { events.first == .opened }

  func dial(_ endpoint: Endpoint) { stream = dialer.dial(endpoint, observer: self) }

  /// Dials on the loop and comes back when it knows how that went.
  func dialled(_ endpoint: Endpoint) async {
    await loop.run { self.dial(endpoint) }
    await loop.until { !self.events.isEmpty }
  }

  func write(_ bytes: some Sequence<UInt8>) {
    pending += Array(bytes)
    flush()
  }

  func write(_ text: String) { write(text.utf8) }

  func close() { stream?.close() }

  func streamOpened() {
    note(.opened)
    flush()
  }

  func streamFailed(_ cause: Cause) { note(.failed(cause)) }

  func streamWritable() { flush() }

  func streamReadable() {
    onReadable()
    guard !isStalled, let stream else { return }
    var span = buffer.mutableSpan
    var bytes = span.mutableBytes
    switch stream.read(into: &bytes) {
    case .bytes(let count): received += buffer[..<count]
    case .wouldBlock: break
    case .end: note(.end)
    case .failed(let cause): note(.readFailed(cause))
    }
  }

  private func flush() {
    while let stream, !pending.isEmpty {
      switch stream.write(pending.span.bytes) {
      case .wrote(let count):
        if count < pending.count { partialWrites += 1 }
        pending = pending.dropFirst(count)
      case .wouldBlock:
        blockedWrites += 1
        return
      case .failed(let cause):
        pending = []
        return note(.writeFailed(cause))
      }
    }
  }

  private func note(_ event: Event) {
    events.append(event)
    onEvent(event)
  }
}
