import ConnectionFSM

/// What the TCP of a host does by itself, where systems differ.
public struct OperatingSystem: Equatable, Sendable {
  /// When a dial without an answer is repeated, and given up with `ETIMEDOUT`.
  public var dialling: RetransmissionLadder
  /// When bytes without an acknowledgement are sent again, and the connection given up.
  public var retransmission: RetransmissionLadder
  /// The most bytes that are taken from a program and not acknowledged.
  public var sendBuffer: Int
  /// The most bytes that wait for a program to read them.
  public var receiveBuffer: Int
  /// Whether a reset throws away what has arrived and was not read, as RFC 9293 section 3.10.7.4
  /// has it. Linux keeps it readable: measured over loopback, kernel 6.18.
  public var resetDiscardsUnread: Bool

  /// Makes a system.
  public init(
    dialling: RetransmissionLadder, retransmission: RetransmissionLadder,
    sendBuffer: Int = 87_040, receiveBuffer: Int = 131_072, resetDiscardsUnread: Bool = false
  ) {
    self.dialling = dialling
    self.retransmission = retransmission
    self.sendBuffer = sendBuffer
    self.receiveBuffer = receiveBuffer
    self.resetDiscardsUnread = resetDiscardsUnread
  }

  /// Linux: a dial gives up after 127 s (`tcp_syn_retries` 6), a connection after 924.6 s
  /// (`tcp_retries2` 15); kernel documentation, ip-sysctl.
  public static let linux = OperatingSystem(dialling: .synLinux, retransmission: .data)

  /// macOS and iOS: a dial gives up after 75 s (`net.inet.tcp.keepinit`). Its retransmission is
  /// taken to be like Linux's, and a reset to discard as the RFC says: neither was measured.
  public static let darwin = OperatingSystem(
    dialling: .synDarwin, retransmission: .data, resetDiscardsUnread: true)
}
