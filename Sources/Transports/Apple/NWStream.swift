#if canImport(Network)
  public import ConnectionFSM
  import Dispatch
  import Foundation
  import Network

  /// A connection of Network.framework as a byte stream, made by ``NWDialer``. Everything of it
  /// happens on the dialer's loop. Not yet verified on Apple platforms.
  ///
  /// One piece of at most 64 KiB is received ahead, and the next is asked for when that has been
  /// read, so that a peer is not read faster than its observer reads. Up to 64 KiB are handed to
  /// the framework before it has taken them; what `write` answers is what was handed over.
  public final class NWStream: ByteStream {
    private enum Stage {
      case connecting, open, closed
    }

    private let loop: SocketEventLoop
    private weak var observer: (any ByteStreamObserver)?
    /// Nil for an endpoint that cannot be dialled.
    private let connection: NWConnection?
    private var stage = Stage.connecting
    /// The error behind the cause of its failure.
    public private(set) var diagnosis: (any Error)?

    private var inbound: [UInt8] = []
    private var isReceiving = false
    /// The observer wants to hear of what arrives.
    private var isReading = true
    /// What a read gives once the inbound bytes are gone: the end, or the error.
    private var readEnd: ReadResult?
    private var isEndRead = false
    /// The observer is about to hear that there is something to read.
    private var isTelling = false

    /// Bytes handed over and not taken yet.
    private var unsent = 0
    private var wantsRoom = false
    private var writeFailure: Cause?
    private var hasFinishedWriting = false

    private static let pieceLimit = 64 << 10

    init(
      loop: SocketEventLoop, _ connection: NWConnection?, observer: any ByteStreamObserver
    ) {
      self.loop = loop
      self.connection = connection
      self.observer = observer
    }

    deinit { connection?.cancel() }

    func start(on queue: DispatchQueue) {
      let confined = WeakNWStream(self)
      guard let connection else {
        loop.execute { confined.stream?.fail(.unsupportedEndpoint) }
        return
      }
      connection.stateUpdateHandler = { [loop] state in
        loop.execute { confined.stream?.changed(to: state) }
      }
      connection.start(queue: queue)
    }
  }

  /// A stream on its way through the framework's queue, which only passes it on.
  private struct WeakNWStream: @unchecked Sendable {
    // Unchecked: looked into on the stream's loop alone.
    weak var stream: NWStream?

    init(_ stream: NWStream) { self.stream = stream }
  }

  // MARK: What the observer asks for

  extension NWStream {
    public func read(into buffer: inout MutableRawSpan) -> ReadResult {
      loop.expectLoop()
      guard stage == .open else {
        return stage == .closed ? .failed(.system(.notConnected)) : .wouldBlock
      }
      guard inbound.isEmpty else {
        // An empty read would be answered like the end.
        guard buffer.byteCount > 0 else { return .wouldBlock }
        let count = min(buffer.byteCount, inbound.count)
        buffer.withUnsafeMutableBytes { $0.copyBytes(from: inbound[..<count]) }
        inbound.removeFirst(count)
        receive()
        return .bytes(count)
      }
      guard let readEnd else { return .wouldBlock }
      isEndRead = true
      return readEnd
    }

    public func write(_ bytes: RawSpan) -> WriteResult {
      loop.expectLoop()
      guard stage == .open, let connection else {
        return stage == .closed ? .failed(.system(.notConnected)) : .wouldBlock
      }
      if let writeFailure { return .failed(writeFailure) }
      guard !hasFinishedWriting else { return .failed(.system(.brokenPipe)) }
      guard bytes.byteCount > 0 else { return .wrote(0) }
      let count = min(bytes.byteCount, Self.pieceLimit - unsent)
      guard count > 0 else {
        wantsRoom = true
        return .wouldBlock
      }
      let piece = bytes.extracting(0..<count).withUnsafeBytes { Data($0) }
      unsent += count
      let confined = WeakNWStream(self)
      connection.send(
        content: piece,
        completion: .contentProcessed { [loop] error in
          loop.execute { confined.stream?.sent(count, error) }
        })
      return .wrote(count)
    }

    public func setReading(_ isReading: Bool) {
      loop.expectLoop()
      self.isReading = isReading
      tellSoon()
    }

    public func finishWriting() {
      loop.expectLoop()
      guard stage == .open, !hasFinishedWriting, let connection else { return }
      hasFinishedWriting = true
      // The last word of the stream: FIN. What goes wrong with it, a read will say too.
      connection.send(
        content: nil, contentContext: .finalMessage, isComplete: true,
        completion: .contentProcessed { _ in })
    }

    public func close() {
      guard stage != .closed else { return }
      loop.expectLoop()
      stage = .closed
      observer = nil
      connection?.stateUpdateHandler = nil
      connection?.cancel()
    }
  }

  // MARK: What the framework says

  extension NWStream {
    private func changed(to state: NWConnection.State) {
      switch (stage, state) {
      case (.connecting, .ready):
        stage = .open
        observer?.streamOpened()
        receive()
      // All addresses failed, and the framework would try again only when the path changes. What
      // follows from that is the machine's decision (a refused port ends here, too).
      case (.connecting, .waiting(let error)), (.connecting, .failed(let error)):
        diagnosis = error
        fail(Cause(error))
      case (.open, .waiting(let error)), (.open, .failed(let error)):
        broke(error)
      // Also `setup` and `preparing`, `cancelled` by us, and whatever comes too late.
      default: return
      }
    }

    private func fail(_ cause: Cause) {
      let observer = observer
      close()
      observer?.streamFailed(cause)
    }

    private func broke(_ error: NWError) {
      diagnosis = diagnosis ?? error
      writeFailure = writeFailure ?? Cause(error)
      // A receive that is under way has its own end, and perhaps the last bytes.
      guard !isReceiving else { return }
      readEnd = readEnd ?? .failed(Cause(error))
      tell()
    }

    /// Asks for the next piece, once the last is read.
    private func receive() {
      guard stage == .open, inbound.isEmpty, !isReceiving, readEnd == nil, let connection else {
        return
      }
      isReceiving = true
      let confined = WeakNWStream(self)
      connection.receive(minimumIncompleteLength: 1, maximumLength: Self.pieceLimit) {
        [loop] content, _, isComplete, error in
        loop.execute { confined.stream?.received(content, isComplete, error) }
      }
    }

    /// Bytes, the end and an error can come in one call: in this order.
    private func received(_ content: Data?, _ isComplete: Bool, _ error: NWError?) {
      isReceiving = false
      guard stage == .open else { return }
      if let content { inbound = Array(content) }
      if let error {
        diagnosis = diagnosis ?? error
        writeFailure = writeFailure ?? Cause(error)
        readEnd = .failed(Cause(error))
      } else if isComplete {
        readEnd = .end
      } else if inbound.isEmpty {
        return receive()
      }
      tell()
    }

    private func sent(_ count: Int, _ error: NWError?) {
      unsent -= count
      guard stage == .open else { return }
      if let error { broke(error) }
      // A writer that waits for room hears of a break by its next write.
      guard wantsRoom, error != nil || unsent <= Self.pieceLimit / 2 else { return }
      wantsRoom = false
      observer?.streamWritable()
    }

    private var hasNews: Bool {
      stage == .open && isReading && (!inbound.isEmpty || (readEnd != nil && !isEndRead))
    }

    /// Tells the observer that there is something to read, in this turn and in each that follows
    /// while something is left.
    private func tell() {
      guard hasNews else { return }
      // Nobody is left who could read.
      guard let observer else { return close() }
      observer.streamReadable()
      tellSoon()
    }

    private func tellSoon() {
      guard hasNews, !isTelling else { return }
      isTelling = true
      let confined = WeakNWStream(self)
      loop.execute {
        confined.stream?.isTelling = false
        confined.stream?.tell()
      }
    }
  }
#endif
