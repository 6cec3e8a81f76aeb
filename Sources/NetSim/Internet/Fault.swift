public import ConnectionFSM

/// Something that befalls an ``Internet`` at an instant, or is taken back.
///
/// Data, so that a schedule of faults can be listed, shortened and kept. What a server does by
/// itself (refuse, stay mute, cut a handshake) is its ``Service``, which a fault can replace.
public enum Fault: Equatable, Sendable {
  // MARK: Servers

  /// The port is served like this from now on; connections that are there go on.
  case serve(HostID, port: UInt16, Service)
  /// Nothing listens at the port any more: dials are refused.
  case refuse(HostID, port: UInt16)
  /// The program ends every connection at the port with a reset, each at a moment drawn from the
  /// window.
  case resetAll(HostID, port: UInt16, within: TimeSpan)
  /// The program says these words on every connection at the port, each at a moment drawn from the
  /// window, and goes on: a notice that it will go away.
  case sayAll(HostID, port: UInt16, [UInt8], within: TimeSpan)
  /// The program says these last words on every connection at the port and then lets go of it,
  /// each at a moment drawn from the window.
  case closeAll(HostID, port: UInt16, lastWords: [UInt8], within: TimeSpan)
  /// So many in ten thousand of the host's connections, drawn one by one, vanish without a word.
  case loseShare(HostID, perTenThousand: Int)
  /// The machine stops without a word, as in a power cut, and its connections are forgotten.
  case crash(HostID)
  /// It is there again; what it served it serves.
  case restart(HostID)
  /// A host dials the port of another so many times, evenly over a span, and says nothing on any of
  /// these connections: a crowd of other clients.
  case crowd(HostID, to: HostID, port: UInt16, count: Int, over: TimeSpan)

  // MARK: Addresses and names

  /// Dials to the address are not answered.
  case deaf(address: String)
  /// They are again.
  case heard(address: String)
  /// There is no such name.
  case unknownName(String)
  /// The resolver does not answer for this name.
  case silentName(String)
  /// The resolver takes so much longer for this name.
  case slowName(String, TimeSpan)
  /// The name has other addresses now; the resolver tells the old ones for so long.
  case moveName(String, to: [String], staleFor: TimeSpan)

  // MARK: The way

  /// Packets from one host to another are kept from their way; nil is everybody.
  case block(from: HostID?, to: HostID?, BlockMode)
  /// The block of these two is taken away, and what was held is delivered.
  case unblock(from: HostID?, to: HostID?)
  /// The connections that a host has now vanish without a word: nothing passes any more, and
  /// nobody is told.
  case sever(HostID)
  /// The boxes on the way end the connections that a host has now with a reset to both ends.
  case cut(HostID)
  /// The interface in use is like this from now on.
  case link(HostID, LinkProfile)
  /// What is written and read is cut like this from now on.
  case chunking(Chunking)
  /// One bit is turned in the next bytes that arrive at the host.
  case corrupt(HostID)

  // MARK: The device

  /// Every dial of the host fails at once with this; nil takes it back.
  case failLocally(HostID, SystemError?)
  /// The host may have so many sockets at a time; nil is no limit.
  case limitDescriptors(HostID, Int?)
  /// The device says this of its network, whatever is true.
  case claimPath(HostID, Path)
  /// The device leaves its network, and says so.
  case leaveNetwork(HostID, sockets: SocketFate)
  /// The device uses this interface from now on, as `Path.interface` numbers them, and says so.
  case join(HostID, interface: UInt16, sockets: SocketFate)
  /// Every host that the device dials is answered for by a portal, until the login takes it away.
  case portal(HostID, HostID?)
  /// The device stands still, and is out of reach.
  case sleep(HostID)
  /// Its programs stand still; its system goes on.
  case suspend(HostID)
  /// Programs go on after a sleep or a suspension.
  case wake(HostID, sockets: SocketFate)
}

/// What a change of the device's network does to the sockets that are there.
public enum SocketFate: Equatable, Sendable {
  /// Nothing; they go silent if their way is gone.
  case kept
  /// They fail with this at once, and their peers are told nothing.
  case failed(SystemError)
}
