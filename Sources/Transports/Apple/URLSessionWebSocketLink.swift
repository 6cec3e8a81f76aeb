#if canImport(Darwin)
  import ConnectionFSM
  import Foundation

  /// One link of a ``URLSessionWebSocketTransport``: a session with one task, from dial to end.
  ///
  /// Confined to the loop; `Sendable` only in that its reference may be captured by work for it.
  final class URLSessionWebSocketLink: @unchecked Sendable {
    let epoch: Epoch
    private let loop: SocketEventLoop
    private let whenOver: () -> Void
    private var observer: (any TransportObserver)?
    private var session: URLSession?
    private var task: URLSessionWebSocketTask?

    private var isClosing = false
    /// The first error of a call; the task's completion, which always follows, tells of the end.
    private var failure: Cause?
    private var lastPong: UInt32 = 0
    /// Messages and their bytes that were given and not taken yet.
    private var unsentMessages = 0
    private var unsentBytes = 0
    private var isBlocked = false

    private static let highMark = 256 << 10
    private static let lowMark = 64 << 10

    init(
      _ epoch: Epoch, loop: SocketEventLoop, observer: any TransportObserver,
      whenOver: @escaping () -> Void
    ) {
      self.epoch = epoch
      self.loop = loop
      self.observer = observer
      self.whenOver = whenOver
    }

    func open(
      _ request: URLRequest, _ configuration: URLSessionConfiguration, maximumMessageSize: Int
    ) {
      // One at a time, in order (B4.9). The session keeps its delegate until it is invalidated.
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      let delegate = URLSessionWebSocketEvents { [weak self, loop] event in
        loop.execute { [weak self] in self?.heard(event) }
      }
      let session = URLSession(
        configuration: configuration, delegate: delegate, delegateQueue: queue)
      let task = session.webSocketTask(with: request)
      task.maximumMessageSize = maximumMessageSize
      self.session = session
      self.task = task
      task.resume()
    }
  }

  // MARK: Orders

  extension URLSessionWebSocketLink {
    func send(_ message: Message, id: MessageID?) {
      guard observer != nil, !isClosing, let task else { return }
      let count = message.bytes.count
      unsentMessages += 1
      unsentBytes += count
      updateWritability()
      task.send(message.kind == .text ? .string(message.text) : .data(Data(message.bytes))) {
        [weak self, loop] error in
        let cause = error.map { Cause($0) }
        loop.execute { [weak self] in self?.sent(id, count, cause) }
      }
    }

    func ping(_ number: UInt32) {
      guard observer != nil, let task else { return }
      task.sendPing { [weak self, loop] error in
        // What went wrong, the receive that is under way says too.
        guard error == nil else { return }
        loop.execute { [weak self] in self?.answered(number) }
      }
    }

    /// What was given is taken first.
    func close() {
      guard observer != nil, !isClosing else { return }
      isClosing = true
      closeIfSent()
    }

    /// Ends without a word.
    func abort() {
      guard observer != nil else { return }
      observer = nil
      session?.invalidateAndCancel()
      session = nil
      task = nil
      whenOver()
    }

    private func closeIfSent() {
      if isClosing, unsentMessages == 0 { task?.cancel(with: .normalClosure, reason: nil) }
    }
  }

  // MARK: What the system says

  extension URLSessionWebSocketLink {
    private func heard(_ event: URLSessionWebSocketEvents.Event) {
      switch event {
      case .opened:
        observer?.transport(epoch, reports: .opened)
        receive()
      case .closed(let code): end(.closed(code))
      case .completed(let status, let retryAfter, let cause):
        // Closed by us, and the peer's code came first if there was one.
        if isClosing { return end(.closed(nil)) }
        if let status, status != 101 {
          return end(.failed(.http(status: status, retryAfter: retryAfter)))
        }
        guard let cause = failure ?? cause else { return end(.closed(nil)) }
        end(.failed(cause))
      }
    }

    /// One call is one message.
    private func receive() {
      guard observer != nil, failure == nil, let task else { return }
      task.receive { [weak self, loop] result in
        let message = result.map { Message($0) }.mapError { ReceiveFailure(cause: Cause($0)) }
        loop.execute { [weak self] in self?.received(message) }
      }
    }

    private struct ReceiveFailure: Error {
      let cause: Cause
    }

    private func received(_ result: Result<Message, ReceiveFailure>) {
      switch result {
      case .success(let message):
        let byteCount = UInt32(clamping: max(1, message.bytes.count))
        observer?.transport(epoch, reports: .received(byteCount: byteCount))
        observer?.transport(epoch, received: message)
        receive()
      case .failure(let error): broke(error.cause)
      }
    }

    private func sent(_ id: MessageID?, _ count: Int, _ cause: Cause?) {
      unsentMessages -= 1
      unsentBytes -= count
      if let cause { return broke(cause) }
      if let id { observer?.transport(epoch, reports: .written(through: id)) }
      updateWritability()
      closeIfSent()
    }

    /// Two calls for one ping do happen, when the link is torn.
    private func answered(_ number: UInt32) {
      guard number > lastPong else { return }
      lastPong = number
      observer?.transport(epoch, reports: .pong(number))
    }

    /// Does not end the link here: a close code, or the answer's status, may be on its way.
    private func broke(_ cause: Cause) {
      guard observer != nil, failure == nil else { return }
      failure = cause
      task?.cancel()
    }

    private func updateWritability() {
      guard failure == nil, !isClosing else { return }
      if isBlocked ? unsentBytes <= Self.lowMark : unsentBytes > Self.highMark {
        isBlocked.toggle()
        observer?.transport(epoch, reports: .writabilityChanged(!isBlocked))
      }
    }

    private func end(_ event: TransportEvent) {
      guard let observer else { return }
      self.observer = nil
      // Lets go of the delegate once the task is done (B4.8).
      session?.finishTasksAndInvalidate()
      session = nil
      task = nil
      whenOver()
      observer.transport(epoch, reports: event)
    }
  }

  extension Message {
    fileprivate init(_ message: URLSessionWebSocketTask.Message) {
      switch message {
      case .string(let text): self.init(text)
      case .data(let data): self.init(bytes: Array(data))
      // A kind of a later system.
      @unknown default: self.init(bytes: [])
      }
    }
  }

  extension Cause {
    /// The cause behind an error of the URL loading system; total.
    fileprivate init(_ error: any Error) {
      let error = error as NSError
      self.init(domain: error.domain, code: error.code)
    }
  }

  /// Hears the session and passes on what it says, in plain values.
  private final class URLSessionWebSocketEvents: NSObject, URLSessionWebSocketDelegate {
    enum Event: Sendable {
      case opened
      case closed(CloseCode)
      /// The status of the answer to the upgrade, if there was one, and the error.
      case completed(status: UInt16?, retryAfter: UInt16?, Cause?)
    }

    private let report: @Sendable (Event) -> Void

    init(_ report: @escaping @Sendable (Event) -> Void) { self.report = report }

    func urlSession(
      _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
      didOpenWithProtocol protocol: String?
    ) {
      report(.opened)
    }

    func urlSession(
      _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
      didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) {
      // 1005: there was none (RFC 6455 section 7.1.5).
      let number = UInt16(clamping: closeCode.rawValue)
      report(.closed(CloseCode(number == 0 ? 1005 : number)))
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
      let answer = task.response as? HTTPURLResponse
      report(
        .completed(
          status: (answer?.statusCode).map { UInt16(clamping: $0) },
          retryAfter: answer?.value(forHTTPHeaderField: "Retry-After").flatMap { UInt16($0) },
          error.map { Cause($0) }))
    }
  }
#endif
