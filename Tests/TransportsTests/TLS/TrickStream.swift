import ConnectionFSM
import NetSim

/// What a ``TrickStream`` does to the bytes that pass.
struct Trick {
  /// How a stream is cut off.
  enum Cut {
    /// As a server that ends in order.
    case fin
    /// As one that crashed.
    case reset
  }

  /// The most that one read gives and one write takes.
  var size = Int.max
  /// Before the byte of this number is read, a read says that nothing is there.
  var pause: Int?
  /// The stream is cut once so many bytes were written by this side, or read.
  var cutAfterWriting: (count: Int, Cut)?
  var cutAfterReading: (count: Int, Cut)?
}

/// A simulated stream that splits or cuts what passes.
final class TrickStream: ByteStream {
  let base: SimulatedStream
  private var trick: Trick
  private(set) var bytesRead = 0
  private(set) var bytesWritten = 0
  private var isCut = false

  init(_ base: SimulatedStream, _ trick: Trick) {
    self.base = base
    self.trick = trick
  }

  func read(into buffer: inout MutableRawSpan) -> ReadResult {
    if isCut { return .wouldBlock }
    if let pause = trick.pause, pause <= bytesRead {
      trick.pause = nil
      return .wouldBlock
    }
    var limit = min(buffer.byteCount, trick.size)
    if let pause = trick.pause { limit = min(limit, pause - bytesRead) }
    if let cut = trick.cutAfterReading { limit = min(limit, cut.count - bytesRead) }
    guard limit > 0 || trick.cutAfterReading == nil else {
      cutOff(trick.cutAfterReading!.1)
      return .wouldBlock
    }
    let result = buffer.withUnsafeMutableBytes { buffer in
      var part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<limit]).mutableBytes
      return base.read(into: &part)
    }
    if case .bytes(let count) = result { bytesRead += count }
    if let cut = trick.cutAfterReading, cut.count <= bytesRead { cutOff(cut.1) }
    return result
  }

  func setReading(_ isReading: Bool) { base.setReading(isReading) }

  func write(_ bytes: RawSpan) -> WriteResult {
    if isCut { return .wrote(bytes.byteCount) }
    var limit = min(bytes.byteCount, trick.size)
    if let cut = trick.cutAfterWriting { limit = min(limit, cut.count - bytesWritten) }
    guard limit > 0 else {
      cutOff(trick.cutAfterWriting!.1)
      return .wrote(bytes.byteCount)
    }
    let result = base.write(bytes.extracting(0..<limit))
    if case .wrote(let count) = result { bytesWritten += count }
    return result
  }

  private func cutOff(_ cut: Trick.Cut) {
    isCut = true
    switch cut {
    case .fin:
      base.finishWriting()
      base.setReading(false)
    case .reset: base.reset()
    }
  }

  func finishWriting() {
    if !isCut { base.finishWriting() }
  }

  func close() { base.close() }
}

/// Dials streams that split or cut what passes.
final class TrickDialer: ByteStreamDialer {
  private let base: SimulatedDialer
  /// What the streams dialled from now on do.
  var trick = Trick()
  /// The last one.
  private(set) weak var stream: TrickStream?

  init(_ base: SimulatedDialer) { self.base = base }

  var eventLoop: any EventLoop { base.eventLoop }

  func dial(_ endpoint: Endpoint, observer: any ByteStreamObserver) -> TrickStream {
    let stream = TrickStream(base.dial(endpoint, observer: observer), trick)
    self.stream = stream
    return stream
  }
}
