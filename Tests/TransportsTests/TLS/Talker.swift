import ConnectionFSM

/// One side of a conversation over any stream: writes what it is given, keeps or echoes what it
/// reads, and notes what it hears. Lives on the stream's loop.
final class Talker<Stream: ByteStream>: ByteStreamObserver, @unchecked Sendable {
  enum Event: Hashable {
    case opened
    case failed(Cause)
    case end
    case readFailed(Cause)
    case writeFailed(Cause)
  }

  var stream: Stream?
  private(set) var events: [Event] = []
  private(set) var received: [UInt8] = []
  private var pending: ArraySlice<UInt8> = []
  /// Whether it sends back what it reads, and finishes when the peer does.
  private let isEcho: Bool
  /// How much it reads at a time, once a turn.
  private let readSize: Int
  /// Whether it leaves unread what arrives.
  var isStalled = false
  private(set) var blockedWrites = 0
  private(set) var announcements = 0
  /// Reads that found nothing although something was announced.
  private(set) var vainReads = 0
  /// Called after each event.
  var onEvent: (Event) -> Void = { _ in }

  init(isEcho: Bool = false, readSize: Int = 16_384) {
    self.isEcho = isEcho
    self.readSize = readSize
  }

  var isOpen: Bool { events.first == .opened }
  var isOver: Bool { !events.isEmpty && events.last != .opened }
  var text: String { String(decoding: received, as: UTF8.self) }
  var hasWritten: Bool { pending.isEmpty }

  func write(_ bytes: some Sequence<UInt8>) {
    pending += Array(bytes)
    flush()
  }

  func write(_ text: String) { write(text.utf8) }

  func streamOpened() {
    note(.opened)
    flush()
  }

  func streamFailed(_ cause: Cause) { note(.failed(cause)) }
  func streamWritable() { flush() }

  func streamReadable() {
    announcements += 1
    guard !isStalled, let stream else { return }
    var buffer = [UInt8](repeating: 0, count: readSize)
    var span = buffer.mutableSpan
    var bytes = span.mutableBytes
    switch stream.read(into: &bytes) {
    case .bytes(let count):
      received += buffer[..<count]
      if isEcho { write(buffer[..<count]) }
    case .wouldBlock: vainReads += 1
    case .end:
      note(.end)
      if isEcho { finishWhenWritten() }
    case .failed(let cause): note(.readFailed(cause))
    }
  }

  private var isFinishing = false

  func finishWhenWritten() {
    isFinishing = true
    flush()
  }

  private func flush() {
    while let stream, isOpen, !pending.isEmpty {
      switch stream.write(pending.span.bytes) {
      case .wrote(let count): pending = pending.dropFirst(count)
      case .wouldBlock:
        blockedWrites += 1
        return
      case .failed(let cause):
        pending = []
        return note(.writeFailed(cause))
      }
    }
    if isFinishing, pending.isEmpty { stream?.finishWriting() }
  }

  private func note(_ event: Event) {
    events.append(event)
    onEvent(event)
  }
}
