public import ConnectionFSM

/// A host of an ``Internet``.
public struct HostID: Hashable, BitwiseCopyable, Sendable {
  let number: UInt32
}

/// One end of a connection in an ``Internet``. Never used again once the connection is gone.
public struct SocketID: Hashable, BitwiseCopyable, Sendable {
  let slot: UInt32
  let generation: UInt32
  let side: Side

  /// The other end.
  var peer: SocketID { SocketID(slot: slot, generation: generation, side: side.other) }
}

/// Which end of a connection.
enum Side: UInt8, Sendable {
  /// Who dialled.
  case client
  case server

  var other: Side { self == .client ? .server : .client }
}

/// A question to the resolver.
public struct LookupID: Hashable, BitwiseCopyable, Sendable {
  let number: UInt32
}

/// What an ``Internet`` tells the programs that run on its hosts.
public enum Occurrence: Equatable, Sendable {
  /// A dial was answered: the socket can be read and written.
  case opened(SocketID)
  /// A dial failed. The socket is gone.
  case failed(SocketID, Cause)
  /// There is something new to read: bytes, the end, or an error.
  case readable(SocketID)
  /// There is room again after a write that would have blocked.
  case writable(SocketID)
  /// A listener without a script has a connection to accept; the server's end of it.
  case accepted(SocketID, HostID, port: UInt16)
  /// The resolver has answered with addresses, or with a cause.
  case resolved(LookupID, [String], Cause?)
  /// The device says so of its network; it may be lying.
  case pathChanged(HostID, Path)
  /// The device stands still from now on: no program on it runs.
  case fellAsleep(HostID)
  /// It goes on.
  case woke(HostID)
  /// A fault befell. No program hears of it; whoever watches does.
  case befell(Fault)

  /// Whose program hears it; nil for what does not concern a socket.
  var socket: SocketID? {
    switch self {
    case .opened(let socket), .failed(let socket, _), .readable(let socket),
      .writable(let socket), .accepted(let socket, _, _):
      socket
    case .resolved, .pathChanged, .fellAsleep, .woke, .befell: nil
    }
  }
}
