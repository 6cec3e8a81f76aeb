/// What an HTTP message begins with, up to and with the blank line.
package struct HTTPHead<Start: HTTPStartLine>: Equatable, Sendable {
  package let start: Start
  package let fields: [HTTPField]

  /// The values of all fields of that name, whatever its case, in order.
  package func values(of name: String) -> [String] { fields.values(of: name) }
}

/// What a server answered: status and fields as they were received, 16 KiB of them at most.
public struct HTTPResponse: Equatable, Sendable {
  /// The status, from 100 to 599.
  public let status: UInt16
  /// The fields in order, names as the server spells them.
  public let fields: [HTTPField]

  package init(_ head: HTTPHead<StatusLine>) {
    status = head.start.status
    fields = head.fields
  }

  /// The values of all fields of that name, whatever its case, in order.
  /// - Parameter name: The name of the field.
  public func values(of name: String) -> [String] { fields.values(of: name) }
}

extension [HTTPField] {
  fileprivate func values(of name: String) -> [String] {
    filter { $0.isNamed(name) }.map(\.value)
  }
}

/// Bytes that are no head.
package enum HTTPHeadError: Error, Equatable, Sendable {
  /// It is no HTTP; the offset of the first byte that tells, from the beginning of all heads.
  case garbled(offset: Int)
  /// It has more bytes than this, with all interim answers.
  case tooLong(limit: Int)
  /// There are more interim answers than this.
  case tooManyInterimAnswers(limit: Int)
}
