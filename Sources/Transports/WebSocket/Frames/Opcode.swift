/// What a frame is (RFC 6455 section 5.2).
enum Opcode: UInt8, Sendable {
  case continuation = 0
  case text = 1
  case binary = 2
  case close = 8
  case ping = 9
  case pong = 10

  var isControl: Bool { rawValue >= 8 }
}

/// Which end of a link: a client masks what it sends, a server never does (section 5.1).
enum Role: Sendable {
  case client
  case server
}
