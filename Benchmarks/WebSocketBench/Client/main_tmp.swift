import ConnectionFSM
import Dispatch
import Transports
import Glibc

final class Windowed: TransportObserver, @unchecked Sendable {
  let transport: StreamTransport<TCPDialer, WebSocketEngine>
  let size: Int, window: Int, count: Int
  var sent = 0, got = 0
  let message: Message
  let done: () -> Void
  var began = ContinuousClock.now
  init(_ loop: SocketEventLoop, _ size: Int, _ window: Int, _ count: Int, done: @escaping () -> Void) throws {
    let limits = try WebSocketLimits(maximumMessageLength: 1 << 26)
    let options = try WebSocketOptions(WebSocketURL("ws://127.0.0.1:1"), limits: limits)
    transport = StreamTransport(TCPDialer(loop: loop)) { WebSocketEngine(options) }
    self.size = size; self.window = window; self.count = count; self.done = done
    message = Message(bytes: [UInt8](repeating: 97, count: size))
  }
  func start(_ port: UInt16) { transport.open(Epoch(1), to: Endpoint(host: "127.0.0.1", port: port), observer: self) }
  func transport(_ epoch: Epoch, reports event: TransportEvent) {
    switch event {
    case .opened: began = .now; for _ in 0..<min(window, count) { send() }
    case .failed, .closed: fatalError("the link ended: \(event)")
    default: break
    }
  }
  func transport(_ epoch: Epoch, received message: Message) {
    guard message.bytes.count == size else { fatalError("length") }
    got += 1
    if got == count { return done() }
    if sent < count { send() }
  }
  func send() { sent += 1; transport.send(message, id: MessageID(lane: LaneID(0), sequence: UInt64(sent)), on: Epoch(1), more: false) }
}
@main struct M {
  static func main() throws {
    let a = CommandLine.arguments
    let loop = try SocketEventLoop()
    let sem = DispatchSemaphore(value: 0)
    let w = try Windowed(loop, Int(a[2])!, Int(a[3])!, Int(a[4])!) { sem.signal() }
    loop.execute { w.start(UInt16(a[1])!) }
    sem.wait()
    let d = w.began.duration(to: .now)
    let s = Double(d.components.seconds) + Double(d.components.attoseconds) / 1e18
    var u = rusage(); getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &u)
    let cpu = Double(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + Double(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6
    print("connection-fsm size=\(w.size) win=\(w.window) n=\(w.count) rt/s=\(Int(Double(w.count) / s)) MB/s=\(Int(Double(w.count * w.size) / s / 1e6)) us_cpu/msg=\(cpu * 1e6 / Double(w.count))")
  }
}
