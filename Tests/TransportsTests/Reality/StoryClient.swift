import ConnectionFSM
import NetSim

/// The client's program: does one act after the other, each as soon as the one before is done, and
/// notes what it sees. Lives on its dialer's loop.
final class StoryClient<World: StoryWorld>: StoryProgram, @unchecked Sendable {
  private let world: World
  private let loop: any EventLoop
  private let acts: [ClientAct]
  private var next = 0
  private var stream: World.Dialer.Stream?
  private(set) var seen: [String] = []
  private(set) var isDone = false
  var written: Int? { sentInAll }
  private var sentInAll = 0

  // What the present act has come to.
  private var begun: Instant?
  private var isLate = false
  private var sent = 0
  private var taken: [UInt8] = []

  // What was heard.
  private var answer: String?
  private var isWritable = false
  private var isFilling = false
  /// Or a story that does not go on would be a test that does not end.
  private var watchdog: Alarm?

  init(_ world: World, _ acts: [ClientAct]) {
    self.world = world
    loop = world.dialer.eventLoop
    self.acts = acts
  }

  func start() {
    let watchdog = Alarm { [weak self] _ in self?.giveUp() }
    self.watchdog = watchdog
    loop.arm(watchdog, at: loop.now + .seconds(30))
    goOn()
  }

  private func giveUp() {
    guard !isDone else { return }
    seen.append("stuck in \(acts[next])")
    end()
  }

  private func end() {
    isDone = true
    if let watchdog { loop.arm(watchdog, at: nil) }
    loop.arm(self, at: nil)
    stream?.close()
  }

  private func goOn() {
    while !isDone {
      guard next < acts.count else { return end() }
      if begun == nil { begin(acts[next]) }
      guard perform(acts[next]) else { return }
      next += 1
      begun = nil
    }
  }

  private func begin(_ act: ClientAct) {
    begun = loop.now
    (isLate, sent, taken) = (false, 0, [])
    switch act {
    case .dial(let target): dial(target)
    case .dialAtMost(let span):
      dial(.server)
      loop.arm(self, at: loop.now + span)
    case .dialHeldUp:
      dial(.server)
      if let stream { world.holdUp(stream) }
    case .readAtMost(let span): loop.arm(self, at: loop.now + span)
    case .until(let hidden): world.begin(hidden)
    default: break
    }
  }

  private func dial(_ target: Target) {
    stream?.close()
    answer = nil
    stream = world.dialer.dial(world.endpoint(of: target), observer: self)
  }

  /// Does an act as far as it gets.
  /// - Returns: Whether it is done; if not, something that is heard brings it on.
  private func perform(_ act: ClientAct) -> Bool {
    switch act {
    case .dial, .dialAtMost, .dialHeldUp: return hasAnswer
    case .write(let bytes): return write(bytes)
    case .writeOnce(let bytes): return writeOnce(bytes)
    case .fill:
      isFilling = true
      fill()
      return note("would block")
    case .untilWritable: return isWritable ? note("writable") : false
    case .read(let count): return read(count)
    case .readToEnd: return read(.max)
    case .readAtMost: return read(.max) || isLate && note("gave up")
    case .readOnce:
      noteRead(stream?.piece(upTo: 65_536) ?? .nothing)
      return true
    case .exchange(let bytes):
      let isWritten = write(bytes)
      return read(bytes.count) && isWritten
    case .finish: stream?.finishWriting()
    case .close: stream?.close()
    case .reset: stream?.reset()
    case .letServerGoOn:
      isFilling = false
      world.letServerGoOn()
    case .until(let hidden):
      if world.isDone(hidden, stream, since: begun ?? .origin) { return true }
      loop.arm(self, at: loop.now + .milliseconds(1))
      return false
    }
    return true
  }

  private var hasAnswer: Bool {
    if let answer { return note(answer) }
    guard isLate else { return false }
    stream?.close()
    return note("gave up")
  }

  private func note(_ what: String) -> Bool {
    seen.append(what)
    loop.arm(self, at: nil)
    return true
  }
}

// MARK: Bytes

extension StoryClient {
  private func write(_ bytes: [UInt8]) -> Bool {
    while sent < bytes.count {
      switch stream?.write(bytes.span.bytes.extracting(droppingFirst: sent)) {
      case .wrote(let count): countWritten(count)
      case .failed(let cause):
        sent = bytes.count
        return note("write failed: \(cause)")
      case .wouldBlock, nil: return false
      }
    }
    return true
  }

  private func countWritten(_ count: Int) {
    sent += count
    sentInAll += count
  }

  private func writeOnce(_ bytes: [UInt8]) -> Bool {
    isWritable = false
    switch stream?.write(bytes.span.bytes) {
    case .wrote(let count):
      sentInAll += count
      return note(count < bytes.count ? "wrote a part" : "wrote")
    case .wouldBlock, nil: return note("would block")
    case .failed(let cause): return note("write failed: \(cause)")
    }
  }

  private func fill() {
    isWritable = false
    while true {
      let bytes = Pattern.bytes(50_000, from: sentInAll)
      guard case .wrote(let count) = stream?.write(bytes.span.bytes) else { return }
      sentInAll += count
    }
  }

  private func read(_ count: Int) -> Bool {
    while taken.count < count {
      switch stream?.piece(upTo: count - taken.count) ?? .nothing {
      case .bytes(let bytes): taken += bytes
      case .nothing:
        stream?.setReading(true)
        return false
      case let last:
        noteTaken()
        noteRead(last)
        return true
      }
    }
    noteTaken()
    stream?.setReading(false)
    return true
  }

  private func noteTaken() {
    if !taken.isEmpty { noteRead(.bytes(taken)) }
    taken = []
  }

  private func noteRead(_ piece: Piece) {
    switch piece {
    case .bytes(let bytes): seen.append("read \(Pattern.describe(bytes))")
    case .nothing: seen.append("nothing to read")
    case .end: seen.append("end")
    case .failed(let cause): seen.append("read failed: \(cause)")
    }
  }
}

// MARK: What it hears

extension StoryClient: ByteStreamObserver, DeadlineHandler {
  func streamOpened() {
    // Until an act reads: what is left unread must not be told in every turn.
    stream?.setReading(false)
    answer = "opened"
    goOn()
  }

  func streamFailed(_ cause: Cause) {
    answer = "failed: \(cause)"
    goOn()
  }

  func streamReadable() { goOn() }

  func streamWritable() {
    if isFilling { return fill() }
    isWritable = true
    goOn()
  }

  func deadlineReached() {
    isLate = true
    goOn()
  }
}
