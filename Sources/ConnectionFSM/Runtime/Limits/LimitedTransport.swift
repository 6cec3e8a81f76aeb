/// A transport whose dials wait until a ``DialLimiter`` gives them their turn; all else is that of
/// the transport it is made of.
///
/// A dial that is let go of while it waits leaves the line.
public final class LimitedTransport<Base: Transport>: Transport {
  private let base: Base
  private let limiter: DialLimiter
  // One; two while a replacement is on its way beside it.
  private var waiting: [Wait] = []

  private struct Wait {
    let epoch: Epoch
    let turn: DialTurn
    let endpoint: Endpoint
    let credentials: Credentials?
    // Weakly, as the observer holds the transport, and the line outlives a loop that stops.
    weak var observer: (any TransportObserver)?
  }

  /// Makes a transport.
  /// - Parameters:
  ///   - base: What carries the messages; handed over.
  ///   - limiter: Who says when it may dial; shared with other transports.
  public init(_ base: sending Base, by limiter: DialLimiter) {
    self.base = base
    self.limiter = limiter
  }

  public var eventLoop: any EventLoop { base.eventLoop }
  public var canPing: Bool { base.canPing }
  public var canAuthenticate: Bool { base.canAuthenticate }
  public var home: Endpoint? { base.home }
  public var traffic: Traffic { base.traffic }

  public func admits(_ message: Message) -> Bool { base.admits(message) }

  public func open(
    _ epoch: Epoch, to endpoint: Endpoint, with credentials: Credentials?,
    observer: any TransportObserver
  ) {
    let turn = DialTurn(on: eventLoop) { [weak self] in self?.turnHasCome(epoch) }
    waiting.append(
      Wait(
        epoch: epoch, turn: turn, endpoint: endpoint, credentials: credentials,
        observer: observer))
    limiter.join(turn)
  }

  private func turnHasCome(_ epoch: Epoch) {
    guard let wait = leave(epoch), let observer = wait.observer else { return }
    base.open(epoch, to: wait.endpoint, with: wait.credentials, observer: observer)
  }

  public func send(_ message: Message, id: MessageID?, on epoch: Epoch, more: Bool) {
    base.send(message, id: id, on: epoch, more: more)
  }

  public func flush(_ epoch: Epoch) { base.flush(epoch) }

  public func ping(_ number: UInt32, on epoch: Epoch) { base.ping(number, on: epoch) }

  public func setReceiving(_ isReceiving: Bool, on epoch: Epoch) {
    base.setReceiving(isReceiving, on: epoch)
  }

  public func close(_ epoch: Epoch) {
    guard let wait = leave(epoch) else { return base.close(epoch) }
    limiter.withdraw(wait.turn)
    wait.observer?.transport(epoch, reports: .closed(nil))
  }

  public func abort(_ epoch: Epoch) {
    guard let wait = leave(epoch) else { return base.abort(epoch) }
    limiter.withdraw(wait.turn)
  }

  private func leave(_ epoch: Epoch) -> Wait? {
    guard let place = waiting.firstIndex(where: { $0.epoch == epoch }) else { return nil }
    return waiting.remove(at: place)
  }
}
