/// An error of Apple's URL loading system (domain NSURLErrorDomain), by symbol.
///
/// The numbers are part of that domain on every platform that has it; a number of another domain
/// is not to be read with this table (I15).
public enum LoadingError: Int16, CaseIterable, BitwiseCopyable, Sendable {
  case badURL = -1000
  case timedOut = -1001
  case unsupportedURL = -1002
  case cannotFindHost = -1003
  case cannotConnectToHost = -1004
  case networkConnectionLost = -1005
  case dnsLookupFailed = -1006
  case notConnectedToInternet = -1009
  case badServerResponse = -1011
  case internationalRoamingOff = -1018
  case dataNotAllowed = -1020
  case appTransportSecurityRequiresSecureConnection = -1022
  case secureConnectionFailed = -1200
  case serverCertificateHasBadDate = -1201
  case serverCertificateUntrusted = -1202
  case serverCertificateHasUnknownRoot = -1203
  case serverCertificateNotYetValid = -1204
  case clientCertificateRejected = -1205
  case clientCertificateRequired = -1206
  /// A code without a row of its own: transient with a bounded budget (I15).
  case other = 0

  /// The symbol behind a code of the domain; total. A cancellation (-999) is our own doing and not
  /// to be reported as a failure.
  public init(code: Int) {
    self = Int16(exactly: code).flatMap { Self(rawValue: $0) } ?? .other
  }
}
