#if os(Linux)
  import COpenSSL

  /// The sessions that servers gave to the streams of one dialer, to be resumed by later ones.
  ///
  /// A session of TLS 1.3 is handed out once, or whoever watches the network could tell that two
  /// connections are of one client (RFC 8446 appendix C.4). Confined to the dialer's loop.
  package final class SessionCache {
    struct Server: Hashable {
      let host: String
      let port: UInt16
      let name: PeerName
    }

    private struct Entry {
      let server: Server
      let session: OpaquePointer
    }

    /// Oldest first.
    private var entries: [Entry] = []

    // A client of many servers is rare, and a session is about 2 KB with its certificates.
    private static let limit = 64
    // As many as OpenSSL's servers give at once.
    private static let limitOfOneServer = 2

    package init() {}

    deinit {
      for entry in entries { SSL_SESSION_free(entry.session) }
    }

    /// How many sessions it has.
    package var count: Int { entries.count }

    /// Keeps a session; the reference becomes the cache's.
    func insert(_ session: OpaquePointer, of server: Server) {
      let others = entries.indices.filter { entries[$0].server == server }
      if others.count >= Self.limitOfOneServer {
        remove(at: others[0])
      } else if entries.count >= Self.limit {
        remove(at: 0)
      }
      entries.append(Entry(server: server, session: session))
    }

    /// The newest session with the server; the reference becomes the caller's.
    func take(for server: Server) -> OpaquePointer? {
      guard let place = entries.lastIndex(where: { $0.server == server }) else { return nil }
      return entries.remove(at: place).session
    }

    private func remove(at place: Int) {
      SSL_SESSION_free(entries.remove(at: place).session)
    }
  }
#endif
