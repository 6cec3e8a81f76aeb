import ConnectionFSM
import NetSim
import Testing

/// Programs at both ends of some connections that do anything they may in any order, on an internet
/// to which anything happens; and what must hold all the same.
struct ProgramWalk {
  /// What may happen.
  enum Weather {
    /// Only what TCP mends: loss, blocks, sleep, other links.
    case mendable
    /// Also what ends connections.
    case any
  }

  /// A program's end of a connection.
  struct Program {
    let socket: SocketID
    let port: UInt16
    let isClient: Bool
    var isOpen = false
    var written = 0
    var read = 0
    var hasFinished = false
    /// What reading ended with.
    var end: ReadResult?
    var isLetGo = false
  }

  private(set) var internet: Internet
  private(set) var log: [String] = []
  private(set) var now = Instant.origin
  private let weather: Weather
  private let client: HostID
  private let server: HostID
  private let cellular: UInt16
  private let boxEnds: Bool
  private var dice: RandomStream
  private(set) var programs: [Program] = []
  private var places: [SocketID: Int] = [:]
  private var ports: UInt16 = 0
  private var isAsleep = false

  init(seed: UInt64, weather: Weather) {
    self.weather = weather
    var dice = RandomStream(seed: seed, name: "walk")
    internet = Internet(seed: seed)
    var system = OperatingSystem.linux
    if dice.next(through: 1) == 0 {
      system.sendBuffer = 1 + Int(dice.next(through: 3000))
      system.receiveBuffer = 1 + Int(dice.next(through: 3000))
      system.resetDiscardsUnread = dice.next(through: 1) == 0
    }
    client = internet.addHost("client", link: Self.link(&dice), system: system)
    server = internet.addHost("server", system: system)
    cellular = internet.addInterface("cellular", to: client, link: Self.link(&dice))
    boxEnds = weather == .any && dice.next(through: 3) == 0
    if boxEnds {
      let reaper = IdleReaper.all[Int(dice.next(through: UInt64(IdleReaper.all.count - 1)))]
      internet.addReaper(reaper, to: server)
    }
    let chunkings = [Chunking.whole, .single, .atMost(100)]
    internet.chunking = chunkings[Int(dice.next(through: 2))]
    self.dice = dice
  }

  private static func link(_ dice: inout RandomStream) -> LinkProfile {
    let longest = TimeSpan.milliseconds(Int64(1 + dice.next(through: 600)))
    var channel = Channel(latency: .uniform(.zero...longest))
    if dice.next(through: 1) == 0 {
      channel.loss = .independent(perTenThousand: Int(dice.next(through: 1000)))
    }
    if dice.next(through: 1) == 0 {
      channel.rate = .kilobits(Int64(20 + dice.next(through: 1000)))
      channel.buffer = 1 + Int(dice.next(through: 20_000))
    }
    return LinkProfile("walk", about: "", source: "", up: channel, down: channel)
  }
}

// MARK: Steps

extension ProgramWalk {
  mutating func step() {
    switch dice.next(through: 15) {
    case 0: dial()
    case 1: misfortune()
    case 2...4: pass(.milliseconds(Int64(dice.next(through: 2000))))
    case 5: pass(.zero)
    default: act()
    }
  }

  private mutating func dial() {
    guard ports < 30 else { return }
    ports += 1
    internet.listen(server, port: ports, Service(backlog: Int(dice.next(through: 3))))
    let address = internet.addresses(of: server)[0]
    let socket = internet.dial(from: client, to: address, port: ports, at: now)
    add(Program(socket: socket, port: ports, isClient: true))
  }

  private mutating func add(_ program: Program) {
    places[program.socket] = programs.count
    programs.append(program)
  }

  /// A program does something, if its device is awake.
  private mutating func act() {
    guard !programs.isEmpty else { return }
    let place = Int(dice.next(through: UInt64(programs.count - 1)))
    let program = programs[place]
    guard program.isOpen, !program.isLetGo, !(isAsleep && program.isClient) else { return }
    switch dice.next(through: 19) {
    case 0...8: write(place, upTo: 1 + Int(dice.next(through: 4000)))
    case 9...15: _ = read(place, upTo: 1 + Int(dice.next(through: 4000)))
    case 16: finish(place)
    case 17: if weather == .any { letGo(place, withReset: dice.next(through: 1) == 0) }
    default: readAll(place)
    }
  }

  private mutating func write(_ place: Int, upTo count: Int) {
    let program = programs[place]
    guard !program.hasFinished else { return }
    let bytes = (0..<count).map { byte(program.written + $0, from: program) }
    switch internet.write(bytes.span.bytes, to: program.socket, at: now) {
    case .wrote(let taken):
      programs[place].written += taken
      #expect((1...count).contains(taken))
    case .wouldBlock: break
    case .failed(let cause):
      #expect(weather == .any)
      // The error is told once: a read gives the end now.
      if programs[place].end == nil { programs[place].end = .failed(cause) }
    }
  }

  /// What is at that place of the stream that a program writes.
  private func byte(_ place: Int, from writer: Program) -> UInt8 {
    UInt8(
      truncatingIfNeeded: place &* 31 &+ place >> 8 &+ Int(writer.port) &* 7
        &+ (writer.isClient ? 1 : 0))
  }

  /// - Returns: Whether more may be there.
  private mutating func read(_ place: Int, upTo count: Int) -> Bool {
    let program = programs[place]
    var buffer = [UInt8](repeating: 0, count: count)
    var span = buffer.mutableSpan
    var bytes = span.mutableBytes
    let result = internet.read(program.socket, into: &bytes, at: now)
    switch result {
    case .bytes(let count):
      let writer = peer(of: program)
      for number in 0..<count where writer != nil {
        // One failure is enough.
        guard let writer, buffer[number] == byte(program.read + number, from: writer) else {
          Issue.record("\(program.port): another byte at \(program.read + number)")
          break
        }
      }
      programs[place].read += count
      #expect(programs[place].read <= writer?.written ?? 0)
      log.append("\(program.port) \(program.isClient) read \(count)")
      return true
    case .wouldBlock: return false
    case .end, .failed:
      noteEnd(result, place)
      return false
    }
  }

  private mutating func noteEnd(_ result: ReadResult, _ place: Int) {
    guard programs[place].end == nil else { return }
    programs[place].end = result
    log.append("\(programs[place].port) \(programs[place].isClient) \(result)")
    let writer = peer(of: programs[place])
    // A server that does not hear for 63 s that the client is open forgets it.
    if weather == .mendable, writer != nil { #expect(result == .end) }
    guard result == .end, !boxEnds else { return }
    // An orderly end comes behind the last byte, and of itself only.
    #expect(writer?.hasFinished == true)
    #expect(writer?.written == programs[place].read)
  }

  /// The program at the other end; nil before there is one.
  func peer(of program: Program) -> Program? {
    programs.first { $0.port == program.port && $0.isClient != program.isClient }
  }

  private mutating func readAll(_ place: Int) {
    while programs[place].end == nil, read(place, upTo: 5000) {}
  }

  private mutating func finish(_ place: Int) {
    programs[place].hasFinished = true
    internet.finishWriting(programs[place].socket, at: now)
  }

  private mutating func letGo(_ place: Int, withReset: Bool) {
    programs[place].isLetGo = true
    programs[place].hasFinished = true
    let socket = programs[place].socket
    withReset ? internet.reset(socket, at: now) : internet.close(socket, at: now)
  }
}

// MARK: What happens

extension ProgramWalk {
  mutating func pass(_ span: TimeSpan) {
    let end = now + span
    while let occurrence = internet.next(through: end) {
      #expect(internet.now >= now)
      now = internet.now
      log.append("\(now.nanoseconds) \(occurrence)")
      hear(occurrence)
    }
    now = end
  }

  private mutating func hear(_ occurrence: Occurrence) {
    switch occurrence {
    case .accepted(let socket, _, let port):
      add(Program(socket: socket, port: port, isClient: false, isOpen: true))
    case .opened(let socket):
      guard let place = heard(socket) else { return }
      #expect(!programs[place].isOpen)
      programs[place].isOpen = true
    case .failed(let socket, _):
      guard let place = heard(socket) else { return }
      programs[place].isLetGo = true
    case .readable(let socket), .writable(let socket):
      guard let place = heard(socket) else { return }
      #expect(programs[place].isOpen)
      if dice.next(through: 2) == 0, !(isAsleep && programs[place].isClient) { readAll(place) }
    case .resolved, .pathChanged, .fellAsleep, .woke, .befell: break
    }
  }

  private func heard(_ socket: SocketID) -> Int? {
    guard let place = places[socket], !programs[place].isLetGo else {
      Issue.record("something is heard of a socket that was let go")
      return nil
    }
    return place
  }

  private mutating func misfortune() {
    let hosts = [client, server, nil]
    let from = hosts[Int(dice.next(through: 2))]
    let to = hosts[Int(dice.next(through: 2))]
    var faults: [Fault] = [
      .block(from: from, to: to, .drop), .block(from: from, to: to, .hold),
      .unblock(from: from, to: to), .unblock(from: client, to: nil),
      .unblock(from: nil, to: nil), .link(client, Self.link(&dice)),
      .join(client, interface: 1, sockets: .kept), .join(client, interface: 1, sockets: .kept),
      .leaveNetwork(client, sockets: .kept), .sleep(client), .wake(client, sockets: .kept),
      .wake(client, sockets: .kept),
    ]
    if weather == .any {
      faults += [
        .join(client, interface: cellular, sockets: .kept), .sever(client), .cut(server),
        .crash(server), .restart(server), .restart(server),
        .loseShare(server, perTenThousand: 3000),
        .leaveNetwork(client, sockets: .failed(.networkDown)),
        .wake(client, sockets: .failed(.connectionAborted)), .suspend(client),
        .resetAll(server, port: max(1, ports), within: .seconds(1)),
        .closeAll(server, port: max(1, ports), lastWords: [], within: .seconds(1)),
        .refuse(server, port: max(1, ports)), .serve(server, port: max(1, ports), Service()),
      ]
    }
    let fault = faults[Int(dice.next(through: UInt64(faults.count - 1)))]
    switch fault {
    case .sleep: isAsleep = true
    case .wake: isAsleep = false
    // The programs do not hear that these did it for them.
    case .closeAll(_, let port, _, _), .resetAll(_, let port, _):
      for place in programs.indices where programs[place].port == port {
        programs[place].hasFinished = true
      }
    default: break
    }
    internet.inject(fault, at: now)
    pass(.zero)
  }
}

// MARK: The end

extension ProgramWalk {
  /// All that can be mended is mended.
  mutating func heal() {
    let hosts = [client, server, nil]
    for from in hosts {
      for to in hosts { internet.inject(.unblock(from: from, to: to), at: now) }
    }
    isAsleep = false
    internet.inject(.restart(server), at: now)
    internet.inject(.wake(client, sockets: .kept), at: now)
    internet.inject(.join(client, interface: 1, sockets: .kept), at: now)
    pass(.zero)
  }

  /// Everybody finishes, and reads what comes.
  mutating func finishAll() {
    for _ in 0..<400 {
      for place in programs.indices where programs[place].isOpen && !programs[place].isLetGo {
        if !programs[place].hasFinished { finish(place) }
        readAll(place)
      }
      pass(.seconds(1))
    }
  }

  mutating func closeAll() {
    internet.inject(.wake(client, sockets: .kept), at: now)
    pass(.zero)
    for place in programs.indices where !programs[place].isLetGo { letGo(place, withReset: false) }
  }
}
