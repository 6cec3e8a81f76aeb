public import ConnectionFSM

/// Why a proxy gave no tunnel, and the mend: the `diagnosis` of a stream through it.
public struct ProxyError: Error, Equatable, CustomStringConvertible, Sendable {
  /// What went wrong.
  public enum Problem: Equatable, Sendable {
    /// The proxy could not be dialled, or the stream to it broke.
    case notReached(Cause)
    /// What was dialled cannot be asked of a proxy: another scheme than `tcp`, port 0, a host that
    /// is empty, longer than 255 bytes, or not of visible ASCII, or a zone.
    case unusableTarget
    /// It answered with this HTTP status.
    case status(UInt16)
    /// Its answer is no HTTP; the offset of the first byte that is not, from its beginning.
    case garbled(offset: Int)
    /// Its header has more bytes than this.
    case headerTooLong(limit: Int)
    /// It sent more interim answers (1xx) than this.
    case tooManyInterimAnswers(limit: Int)
    /// It finished before its answer was whole.
    case truncated(offset: Int)
    /// Its answer is not of SOCKS version 5; the offset of the byte, and what stands there.
    case notSOCKS5(offset: Int, byte: UInt8)
    /// It takes none of the ways to authenticate that there are credentials for.
    case noMethod
    /// It does not take the user and password.
    case credentialsRefused
    /// It answered with this reply (RFC 1928 section 6).
    case reply(UInt8)
    /// It did not answer within this limit.
    case tookTooLong(TimeSpan)
  }

  /// The proxy.
  public let proxy: Endpoint
  /// What was to be reached through it.
  public let target: Endpoint
  /// What went wrong.
  public let problem: Problem

  public var description: String { "\(target) through the proxy \(proxy): \(words)" }

  private var words: String {
    switch problem {
    case .notReached(let cause): "the proxy was not reached (\(cause)): is it running?"
    case .unusableTarget:
      "a proxy can be asked for tcp://HOST:PORT alone, the host in ASCII and without a zone"
    case .status(401), .status(407):
      "it wants other credentials (HTTP \(statusNumber)): check user and password"
    case .status(403), .status(405):
      "it does not allow this target (HTTP \(statusNumber)): ask its operator, or add the host to "
        + "NO_PROXY"
    case .status: "it answered with HTTP \(statusNumber)"
    case .garbled(let offset):
      "its answer is no HTTP at byte \(offset): is it an HTTP proxy, and is TLS wanted?"
    case .headerTooLong(let limit): "the header of its answer has more than \(limit) bytes"
    case .tooManyInterimAnswers(let limit): "it sent more than \(limit) interim answers"
    case .truncated(let offset): "it went away \(offset) bytes into its answer"
    case .notSOCKS5(let offset, let byte):
      "byte \(offset) of its answer is \(byte): is it a SOCKS5 proxy?"
    case .noMethod: "it wants to be told a user and password, or to be asked in another way"
    case .credentialsRefused: "it does not take this user and password"
    case .reply(let code): "it answered: \(Self.words(ofReply: code))"
    case .tookTooLong(let limit): "it did not answer within \(Duration(limit))"
    }
  }

  private var statusNumber: String {
    if case .status(let status) = problem { "\(status)" } else { "" }
  }

  /// RFC 1928 section 6.
  private static func words(ofReply code: UInt8) -> String {
    switch code {
    case 1: "general failure (1)"
    case 2: "its rules do not allow this target (2)"
    case 3: "network unreachable from there (3)"
    case 4: "host unreachable from there (4)"
    case 5: "connection refused by the target (5)"
    case 6: "time to live expired (6)"
    case 7: "it does not do CONNECT (7)"
    case 8: "it does not do this type of address (8)"
    default: "reply \(code), which no document knows"
    }
  }
}
