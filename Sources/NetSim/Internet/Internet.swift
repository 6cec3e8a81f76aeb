public import ConnectionFSM

/// The internet as clients see it, in virtual time: hosts, names, and connections of bytes.
///
/// A value: a copy is a snapshot that goes its own way. It has no clock and no thread; whoever
/// drives it says what the time is, and takes what has happened. Connections behave like TCP's as
/// programs see them, not like its packets: a lost packet never loses a byte, it makes those behind
/// it late. What is not modelled: congestion control, delayed acknowledgements, and simultaneous
/// opens.
public struct Internet: Sendable {
  /// Something that is to come. A socket is the one that sends, dials, or waits.
  enum Event: Sendable {
    /// The timer of an end is due.
    case timer(SocketID)
    /// The client's own system does not let it dial.
    case refusedLocally(SocketID, SystemError)
    /// A dial's packet reaches the host.
    case knocked(SocketID)
    /// Its answer reaches the client: the connection, or a refusal.
    case answered(SocketID, Cause?)
    /// The client's word that it is open reaches the server.
    case confirmed(SocketID)
    /// The bottleneck has room.
    case depart(SocketID)
    case arrive(SocketID, through: Int)
    case acknowledge(SocketID, through: Int, edge: Int)
    /// A reset reaches this socket.
    case reset(SocketID)
    /// A box's FIN reaches this socket.
    case cutOff(SocketID)
    /// A box looks whether to end the connection.
    case reap(SocketID, reaper: Int)
    /// A script's wait is over.
    case resume(SocketID)
    /// The server has done its work on a new connection.
    case accept(SocketID)
    case answerLookup(LookupID)
    /// A server's program says something, and lets go.
    case sayByServer(SocketID, [UInt8], thenCloses: Bool)
    case resetByServer(SocketID)
    /// Boxed: much larger than all the others, and rare.
    indirect case fault(Fault)
    /// What a fault began goes on; it was told of when it befell.
    indirect case more(Fault)
  }

  let seed: UInt64
  /// The latest instant that anything happened at.
  public private(set) var now = Instant.origin
  var hosts: [Host] = []
  /// Looked up, never walked through.
  var owners: [String: HostID] = [:]
  var names: [String: NameRecord] = [:]
  var lookups: [UInt32: (HostID, String)] = [:]
  var lookupCount: UInt32 = 0
  var links: [LinkState] = []
  var linkNumbers: [LinkKey: Int] = [:]
  var blocks: [Block] = []
  /// What blocks hold back, and who sent it. Bytes are not here: their sender still has them.
  var held: [(packet: Event, sender: SocketID)] = []
  /// Slots are used again, generations are not.
  var connections: [TCPConnection] = []
  var freeSlots: [UInt32] = []
  /// Looked up, never walked through.
  var deafAddresses: Set<String> = []
  /// Hosts at which the next bytes arrive with a bit turned.
  var corrupted: [HostID] = []
  /// How many times a link became another: its streams begin anew each time.
  var linkChanges = 0
  /// How what is written and read is cut into pieces.
  public var chunking = Chunking.whole
  private var events = EventQueue<Event>()
  private var told: [Occurrence] = []
  private var toldCount = 0
  /// A capture, if there is one.
  var tap: Tap?
  var chunks: RandomStream
  var sweeps: RandomStream

  struct LinkKey: Hashable {
    let host: HostID
    let interface: Int
    let peer: HostID
  }

  /// Makes an internet without hosts.
  /// - Parameter seed: What all randomness is drawn from, in a stream for each link and purpose.
  public init(seed: UInt64) {
    self.seed = seed
    chunks = RandomStream(seed: seed, name: "internet/chunks")
    sweeps = RandomStream(seed: seed, name: "internet/sweeps")
  }
}

/// How what is written and read is cut into pieces, beyond what buffers and links ask for.
public enum Chunking: Equatable, Sendable {
  /// Not at all.
  case whole
  /// At random, into pieces of at most so many bytes; at least 1. Writes and reads are partial.
  case atMost(Int)
  /// Into single bytes.
  case single
}

// MARK: Time

extension Internet {
  /// When something happens next; nil if nothing is to come.
  public var nextInstant: Instant? {
    toldCount < told.count ? now : events.nextInstant
  }

  /// Lets things happen until a program hears of one; nil once nothing is left to happen up to that
  /// instant.
  public mutating func next(through instant: Instant) -> Occurrence? {
    while toldCount == told.count {
      guard let coming = events.nextInstant, coming <= instant else {
        now = max(now, instant)
        return nil
      }
      if let (at, event) = events.pop() {
        now = max(now, at)
        happen(event)
      }
    }
    toldCount += 1
    let occurrence = told[toldCount - 1]
    if toldCount == told.count {
      told.removeAll(keepingCapacity: true)
      toldCount = 0
    }
    note(occurrence)
    return occurrence
  }

  /// Whoever calls says what the time is.
  mutating func come(to instant: Instant) { now = max(now, instant) }

  /// Takes back what the program has not heard of a socket that is gone.
  mutating func unsay(of socket: SocketID) {
    guard toldCount < told.count else { return }
    told[toldCount...].removeAll { $0.socket == socket }
    guard toldCount == told.count else { return }
    told.removeAll(keepingCapacity: true)
    toldCount = 0
  }

  private mutating func note(_ occurrence: Occurrence) {
    guard case .readable(let socket) = occurrence, has(socket) else { return }
    self[socket].readableIsAhead = false
  }

  mutating func schedule(_ event: Event, at instant: Instant, for socket: SocketID? = nil) {
    // Actor 0 is the world: what befalls it comes before what connections do at that instant.
    events.schedule(event, at: instant, by: socket.map { $0.slot + 1 } ?? 0)
  }

  /// Tells the program of an end, which may be a script.
  mutating func tell(_ occurrence: Occurrence, to socket: SocketID) {
    guard has(socket), self[socket].stage == .open else { return }
    if self[socket].script != nil { return runScript(socket) }
    if case .readable = occurrence {
      // One is enough for whoever reads all there is.
      if self[socket].readableIsAhead { return }
      self[socket].readableIsAhead = true
    }
    told.append(occurrence)
  }

  mutating func tell(_ occurrence: Occurrence) { told.append(occurrence) }

  private mutating func happen(_ event: Event) {
    switch event {
    case .timer(let socket): timerIsDue(socket)
    case .refusedLocally(let socket, let error): failDial(socket, .system(error))
    case .knocked(let socket): knocked(socket)
    case .answered(let socket, let refusal): answered(socket, refusal)
    case .confirmed(let socket): confirmed(socket)
    case .depart(let socket):
      guard has(socket) else { return }
      self[from: socket].isWaitingForRoom = false
      pump(socket)
    case .arrive(let socket, let place): arrive(socket, through: place)
    case .acknowledge(let socket, let place, let edge):
      acknowledged(socket, through: place, edge: edge)
    case .reset(let socket): resetArrived(at: socket)
    case .cutOff(let socket): cutOff(socket)
    case .reap(let socket, let reaper): reap(socket, reaper)
    case .resume(let socket):
      guard has(socket) else { return }
      self[socket].script?.isWaiting = false
      runScript(socket)
    case .accept(let socket): accept(socket)
    case .answerLookup(let lookup): answer(lookup)
    case .sayByServer(let socket, let words, let closes): say(words, by: socket, closes)
    case .resetByServer(let socket): reset(socket, at: now)
    case .fault(let fault):
      tell(.befell(fault))
      apply(fault)
    case .more(let fault): apply(fault)
    }
  }
}

// MARK: Hosts

extension Internet {
  /// Adds a host, whose name the resolver knows from now on.
  ///
  /// Its first address is `10.x.y.z`; one that also has version 6 prefers that, `fd00::n`.
  /// - Parameters:
  ///   - name: Its name. A second host of a name hides the first from the resolver.
  ///   - link: The way that its own dials leave by. Servers need none.
  ///   - system: What its TCP does by itself.
  ///   - hasVersion6: Whether it has an address of version 6, too.
  public mutating func addHost(
    _ name: String, link: LinkProfile = .perfect, system: OperatingSystem = .linux,
    hasVersion6: Bool = false
  ) -> HostID {
    let number = UInt32(hosts.count)
    let id = HostID(number: number)
    let low = number + 1
    let version4 = "10.\(low >> 16 & 255).\(low >> 8 & 255).\(low & 255)"
    let addresses = hasVersion6 ? ["fd00::\(String(low, radix: 16))", version4] : [version4]
    let interface = Interface(name: "primary", number: 1, profile: link)
    hosts.append(
      Host(name: name, addresses: addresses, system: system, interfaces: [interface]))
    for address in addresses { owners[address] = id }
    names[name] = NameRecord(answer: .addresses(addresses))
    return id
  }

  /// Adds another way out to a host; it is not used before a switch to it.
  /// - Returns: Its number, as `Path.interface` tells it.
  @discardableResult
  public mutating func addInterface(
    _ name: String, to host: HostID, link: LinkProfile
  ) -> UInt16 {
    let number = UInt16(self[host].interfaces.count + 1)
    self[host].interfaces.append(Interface(name: name, number: number, profile: link))
    return number
  }

  /// Puts a box behind the interface in use of a host that dials, or in front of one that serves.
  /// Connections that are there already do not pass it.
  public mutating func addReaper(_ reaper: IdleReaper, to host: HostID) {
    self[host].reapers.append(reaper)
  }

  /// The addresses of a host, the preferred one first.
  public func addresses(of host: HostID) -> [String] { self[host].addresses }

  subscript(host: HostID) -> Host {
    get { hosts[Int(host.number)] }
    _modify { yield &hosts[Int(host.number)] }
  }

  /// The way between an interface and another host, made when it is first used.
  mutating func link(from host: HostID, interface: Int, to peer: HostID) -> Int {
    let key = LinkKey(host: host, interface: interface, peer: peer)
    if let number = linkNumbers[key] { return number }
    links.append(linkState(key, self[host].interfaces[interface].profile))
    linkNumbers[key] = links.count - 1
    return links.count - 1
  }

  func linkState(_ key: LinkKey, _ profile: LinkProfile) -> LinkState {
    let change = linkChanges == 0 ? "" : "/\(linkChanges)"
    let name = "link/\(key.host.number)/\(key.interface)/\(key.peer.number)\(change)"
    return LinkState(
      up: ChannelState(profile.up, seed: seed, name: name + "/up"),
      down: ChannelState(profile.down, seed: seed, name: name + "/down"))
  }
}

// MARK: Sockets

extension Internet {
  /// Whether the connection is still there.
  func has(_ socket: SocketID) -> Bool {
    connections[Int(socket.slot)].generation == socket.generation
  }

  /// The connection of a socket that is there. All of these are in place: a copy would copy bytes.
  subscript(connection socket: SocketID) -> TCPConnection {
    _read { yield connections[Int(socket.slot)] }
    _modify { yield &connections[Int(socket.slot)] }
  }

  subscript(socket: SocketID) -> TCPConnection.End {
    _read { yield connections[Int(socket.slot)][socket.side] }
    _modify { yield &connections[Int(socket.slot)][socket.side] }
  }

  /// The direction in which the socket sends.
  subscript(from socket: SocketID) -> Pipe {
    _read { yield connections[Int(socket.slot)][from: socket.side] }
    _modify { yield &connections[Int(socket.slot)][from: socket.side] }
  }

  /// The running state of the way in which the socket sends.
  subscript(way socket: SocketID) -> ChannelState {
    _read { yield links[connections[Int(socket.slot)].link][from: socket.side] }
    _modify { yield &links[connections[Int(socket.slot)].link][from: socket.side] }
  }

  /// How many connections there is anything left of.
  package var liveConnections: Int { connections.count - freeSlots.count }

  /// How many bytes the programs that dialled have written to the connections that are still there,
  /// and have read from them.
  package var bytesOfClients: (written: Int, read: Int) {
    connections.filter { $0.client.stage.isHeld }.reduce((0, 0)) { sum, connection in
      (sum.0 + connection.up.written, sum.1 + connection.down.read)
    }
  }

  /// How many ends are held by programs: what a leak would show in.
  public var liveSockets: Int {
    var count = 0
    for connection in connections {
      if connection.client.stage.isHeld { count += 1 }
      if connection.server.stage.isHeld { count += 1 }
    }
    return count
  }
}

extension TCPConnection.Stage {
  /// Whether a program holds the end.
  var isHeld: Bool {
    switch self {
    case .dialling, .open: true
    case .greeting, .queued, .orphaned, .gone: false
    }
  }
}
