import ConnectionFSM
import NetSim
import Transports

/// Where a story is played: the only difference between simulation and reality.
protocol StoryWorld: AnyObject, Sendable {
  associatedtype Dialer: ByteStreamDialer where Dialer.Stream: StoryStream

  var dialer: Dialer { get }
  func endpoint(of target: Target) -> Endpoint
  /// Holds the client up from now on until the server's reset has come.
  func holdUp(_ stream: Dialer.Stream)
  func letServerGoOn()
  func begin(_ hidden: ClientAct.Hidden)
  /// Whether it has come about; asked again and again.
  func isDone(_ hidden: ClientAct.Hidden, _ stream: Dialer.Stream?, since: Instant) -> Bool
}

/// What runs on the client's machine. Lives on its dialer's loop.
protocol StoryProgram: AnyObject, Sendable {
  /// What it has seen.
  var seen: [String] { get }
  var isDone: Bool { get }
  /// How many bytes were taken from it in all; nil if it does not know.
  var written: Int? { get }
  func start()
}

/// A stream whose observer need not read, and which can be reset.
protocol StoryStream: ByteStream, SendableMetatype {
  func reset()
}

extension TCPStream: StoryStream {}
extension SimulatedStream: StoryStream {}

/// A read of a story's program.
enum Piece {
  case bytes([UInt8])
  case nothing
  case end
  case failed(Cause)
}

extension StoryStream {
  /// Reads once, at most so many bytes.
  func piece(upTo limit: Int) -> Piece {
    var storage = [UInt8](repeating: 0, count: min(limit, 65_536))
    var span = storage.mutableSpan
    var bytes = span.mutableBytes
    switch read(into: &bytes) {
    case .bytes(let count): return .bytes(Array(storage[..<count]))
    case .wouldBlock: return .nothing
    case .end: return .end
    case .failed(let cause): return .failed(cause)
    }
  }
}
