import ConnectionFSM
import NetSim
import Transports

/// A peer that writes and reads bytes, as the test says. Confined to the simulation's thread.
final class RawPeer: ByteStreamObserver, @unchecked Sendable {
  private(set) var stream: SimulatedStream?
  private(set) var received: [UInt8] = []
  private(set) var hasHeardEnd = false
  private var unwritten: [UInt8] = []
  private var isOpen = false
  /// Called when bytes have arrived.
  var hears: () -> Void = {}

  /// Dials.
  func dial(_ dialer: SimulatedDialer, _ endpoint: Endpoint) {
    stream = dialer.dial(endpoint, observer: self)
  }

  /// Takes a connection that was accepted.
  func take(_ stream: SimulatedStream) {
    self.stream = stream
    isOpen = true
    stream.start(observer: self)
  }

  func write(_ bytes: some Collection<UInt8>) {
    unwritten += bytes
    flush()
  }

  func setReading(_ isReading: Bool) { stream?.setReading(isReading) }
  func finish() { stream?.finishWriting() }
  func close() { stream?.close() }

  func streamOpened() {
    isOpen = true
    flush()
  }

  func streamFailed(_ cause: Cause) { hasHeardEnd = true }
  func streamWritable() { flush() }

  func streamReadable() {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while let stream {
      var span = buffer.mutableSpan
      var bytes = span.mutableBytes
      switch stream.read(into: &bytes) {
      case .bytes(let count):
        received += buffer[..<count]
        hears()
      case .wouldBlock: return
      case .end, .failed:
        hasHeardEnd = true
        return
      }
    }
  }

  private func flush() {
    guard isOpen else { return }
    while !unwritten.isEmpty, case .wrote(let count)? = stream?.write(unwritten.span.bytes) {
      unwritten.removeFirst(count)
    }
  }
}

/// A WebSocket server by hand: the handshake is understood, and the rest is the test's.
final class RawServer: @unchecked Sendable {
  private(set) var peers: [RawPeer] = []
  /// How many bytes of each peer were its request.
  private var requests: [Int] = []

  /// - Parameter answer: Gets each peer that has asked, with the head that accepts it.
  init(
    _ internet: SimulatedInternet, host: HostID, port: UInt16,
    answer: @escaping (RawPeer, [UInt8]) -> Void
  ) {
    internet.listen(host, port: port) { [weak self] stream in
      guard let self else { return }
      let peer = RawPeer()
      let number = peers.count
      peers.append(peer)
      requests.append(0)
      peer.hears = { [weak self, unowned peer] in
        guard let self, requests[number] == 0 else { return }
        var handshake = ServerHandshake()
        let bytes = peer.received
        guard case .asked(let request, let taken) = handshake.receive(bytes.span.bytes) else {
          return
        }
        requests[number] = taken
        answer(peer, ServerHandshake.acceptance(of: request, subprotocol: nil, extensions: nil))
      }
      peer.take(stream)
    }
  }

  /// What a client has sent behind its request; nil if it is no whole frames.
  func frames(of number: Int) -> [WireFrame]? {
    WireFrame.read(Array(peers[number].received[requests[number]...]))
  }
}

/// A frame as it lies on the wire, made and read without the code under test.
struct WireFrame: Equatable {
  var first: UInt8
  var payload: [UInt8]

  init(_ first: UInt8, _ payload: some Sequence<UInt8>) {
    self.first = first
    self.payload = Array(payload)
  }

  static func close(_ code: UInt16) -> WireFrame {
    WireFrame(0x88, [UInt8(code >> 8), UInt8(code & 0xFF)])
  }

  /// As a server sends it.
  var bytes: [UInt8] { ServerBytes.frame(first, payload) }

  /// As a client sends it; of less than 126 bytes.
  var masked: [UInt8] {
    let key: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
    return [first, 0x80 | UInt8(payload.count)] + key
      + payload.enumerated().map { $1 ^ key[$0 % 4] }
  }

  /// Whole frames, unmasked; nil where bytes are left over.
  static func read(_ bytes: [UInt8]) -> [WireFrame]? {
    var frames: [WireFrame] = []
    var rest = bytes[...]
    func number(_ count: Int) -> Int? {
      guard rest.count >= count else { return nil }
      defer { rest = rest.dropFirst(count) }
      return rest.prefix(count).reduce(0) { $0 << 8 | Int($1) }
    }
    while !rest.isEmpty {
      guard let first = number(1), let second = number(1) else { return nil }
      var length: Int? = second & 0x7F
      if length == 126 { length = number(2) } else if length == 127 { length = number(8) }
      let key = Array(rest.prefix(second & 0x80 == 0 ? 0 : 4))
      rest = rest.dropFirst(key.count)
      guard let length, rest.count >= length else { return nil }
      let payload = rest.prefix(length).enumerated().map {
        key.isEmpty ? $1 : $1 ^ key[$0 % 4]
      }
      frames.append(WireFrame(UInt8(first), payload))
      rest = rest.dropFirst(length)
    }
    return frames
  }
}
