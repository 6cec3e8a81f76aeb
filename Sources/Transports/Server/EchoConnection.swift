import ConnectionFSM

/// One connection of an ``EchoServer``.
final class EchoConnection {
  enum Event {
    case line([UInt8])
    case ended(String)
  }

  private let loop: SocketEventLoop
  private let stream: TCPStream
  private let fault: EchoServer.Fault
  private let report: (Event) -> Void
  private var buffer = [UInt8](repeating: 0, count: 16 << 10)
  private var line: [UInt8] = []
  private var lines = 0
  private var outbound: [UInt8] = []
  /// Answers whose time has not come, oldest first.
  private var delayed: [(at: Instant, line: [UInt8])] = []
  private var isOver = false

  /// A peer that does not read what it asked for is not read from either.
  private static let outboundLimit = 1 << 20
  private static let lineLimit = 1 << 20

  init(
    loop: SocketEventLoop, stream: TCPStream, fault: EchoServer.Fault,
    report: @escaping (Event) -> Void
  ) {
    self.loop = loop
    self.stream = stream
    self.fault = fault
    self.report = report
  }

  /// Closes without a word to the server.
  func close() {
    isOver = true
    loop.arm(self, at: nil)
    stream.close()
  }

  /// Closes and tells the server how.
  func end(_ how: String) {
    guard !isOver else { return }
    close()
    report(.ended(how))
  }
}

extension EchoConnection: ByteStreamObserver {
  func streamOpened() {}
  func streamFailed(_ cause: Cause) { end("\(cause)") }

  func streamReadable() {
    var span = buffer.mutableSpan
    var bytes = span.mutableBytes
    switch stream.read(into: &bytes) {
    case .bytes(let count): take(buffer[..<count])
    case .wouldBlock: return
    case .end: end("closed by the peer")
    case .failed(let cause): end("\(cause)")
    }
  }

  func streamWritable() { flush() }

  private func take(_ bytes: ArraySlice<UInt8>) {
    for byte in bytes where !isOver {
      line.append(byte)
      if byte == UInt8(ascii: "\n") { endLine() }
    }
    if line.count > Self.lineLimit { end("a line without an end") }
    flush()
  }

  private func endLine() {
    let whole = line
    line.removeAll(keepingCapacity: true)
    lines += 1
    report(.line(Array(whole.dropLast())))
    switch fault {
    case .none, .refuse, .acceptAndDrop: outbound += whole
    case .mute: break
    case .reset(let limit):
      if lines < limit {
        outbound += whole
      } else {
        flush()
        isOver = true
        stream.reset()
        report(.ended("reset on purpose"))
      }
    case .halfClose(let limit):
      if lines <= limit { outbound += whole }
      if lines == limit {
        flush()
        stream.finishWriting()
      }
    case .slow(let delay):
      delayed.append((loop.now + delay, whole))
      if delayed.count == 1 { loop.arm(self, at: delayed[0].at) }
    }
  }

  private func flush() {
    guard !isOver else { return }
    var written = 0
    loop: while written < outbound.count {
      switch stream.write(outbound.span.bytes.extracting(droppingFirst: written)) {
      case .wrote(let count): written += count
      case .wouldBlock: break loop
      case .failed(let cause): return end("\(cause)")
      }
    }
    outbound.removeFirst(written)
    stream.setReading(outbound.count < Self.outboundLimit)
  }
}

extension EchoConnection: DeadlineHandler {
  func deadlineReached() {
    while let first = delayed.first, first.at <= loop.now {
      outbound += first.line
      delayed.removeFirst()
    }
    if let first = delayed.first { loop.arm(self, at: first.at) }
    flush()
  }
}
