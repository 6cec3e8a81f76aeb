/// Carries messages for a connection, one link at a time.
///
/// A transport decides nothing: it dials when told, reports what happens with the epoch it was
/// given, and lets go when told. All calls come on ``eventLoop`` and all reports must be made on
/// it; a report from inside a call is allowed and is handled after it.
public protocol Transport: AnyObject {
  /// The loop on which everything of this transport happens.
  var eventLoop: any EventLoop { get }

  /// Whether the protocol can ask the peer for a sign of life; without it a policy may have no
  /// heartbeat.
  var canPing: Bool { get }

  /// Whether it takes credentials to its peer; without it a connection may have no provider of
  /// them.
  var canAuthenticate: Bool { get }

  /// Where a connection dials that is not told where; nil, the default, for a transport that has to
  /// be told.
  var home: Endpoint? { get }

  /// What has passed over all links so far; nothing for a transport that does not count.
  var traffic: Traffic { get }

  /// Whether the protocol can carry the message. What it cannot is turned away at the door, since
  /// once it is sent there is no good end for it.
  func admits(_ message: Message) -> Bool

  /// Dials, and reports to the observer as this epoch: `opened`, or `failed` with the cause.
  ///
  /// The credentials are for this link alone; there are none where the connection has no provider.
  func open(
    _ epoch: Epoch, to endpoint: Endpoint, with credentials: Credentials?,
    observer: any TransportObserver)

  /// Sends a message on an open link. Reports `written` when the stream took its last byte;
  /// of a TLS stream at most one record may then still wait for the system.
  /// With `more` another message follows at once, or ``flush(_:)``, so that they may travel in one
  /// write. One without an id is nobody's that waits (a beat, a login): nothing is reported of it.
  func send(_ message: Message, id: MessageID?, on epoch: Epoch, more: Bool)

  /// No message follows the last one that was sent with `more`. A transport that writes each at
  /// once, as by default, has nothing to do.
  func flush(_ epoch: Epoch)

  /// Asks for a sign of life; the answer is reported as `pong` of the same number.
  func ping(_ number: UInt32, on epoch: Epoch)

  /// Whether messages of this link are wanted now; when it opens they are. What is not wanted stays
  /// with the peer as far as the protocol can make it wait. A transport that cannot, as by default,
  /// goes on delivering.
  func setReceiving(_ isReceiving: Bool, on epoch: Epoch)

  /// Ends in order: what was given is sent first. Reports `closed` or `failed`.
  func close(_ epoch: Epoch)

  /// Lets go at once and reports nothing more of this epoch.
  func abort(_ epoch: Epoch)
}

extension Transport {
  public var canAuthenticate: Bool { false }
  public var home: Endpoint? { nil }
  public var traffic: Traffic { Traffic() }
  public func flush(_ epoch: Epoch) {}
  public func setReceiving(_ isReceiving: Bool, on epoch: Epoch) {}
}

/// Who hears what a transport has to say.
public protocol TransportObserver: AnyObject {
  /// Something happened to the link of this epoch.
  func transport(_ epoch: Epoch, reports event: TransportEvent)

  /// A message arrived on the link of this epoch.
  func transport(_ epoch: Epoch, received message: Message)

  /// The error behind the failure that is reported next, if there is one to show: which byte broke
  /// the framing, why a certificate was refused. For logs; the machine decides by the cause alone.
  func transport(_ epoch: Epoch, diagnosed error: any Error)
}

extension TransportObserver {
  public func transport(_ epoch: Epoch, diagnosed error: any Error) {}
}
