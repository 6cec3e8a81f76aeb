#if os(Linux)
  import ConnectionFSM
  import Foundation
  import Transports

  /// A certificate of a server of this tool, made when it starts and gone when it ends.
  struct ThrowawayIdentity {
    let context: TLSServerContext
    /// The options by which a client believes it.
    let hint: String

    init(host: String) throws(TLSError) {
      let authority = try ThrowawayAuthority()
      let identity = try authority.issue(names: ["localhost"], addresses: [host])
      context = try TLSServerContext(identity: identity)
      let pin = try PublicKeyPin(certificate: identity.certificates)
      hint = " --pin \(pin)"
    }
  }
#endif
