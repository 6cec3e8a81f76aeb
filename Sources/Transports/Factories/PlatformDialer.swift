import ConnectionFSM

#if os(Linux)
  /// The dialer of a platform: TCP, with TLS where the endpoint wants it.
  public typealias PlatformDialer = SchemeDialer<TCPDialer>
#else
  /// The dialer of a platform: TCP, with TLS where the endpoint wants it. Not yet verified on Apple
  /// platforms.
  public typealias PlatformDialer = NWDialer
#endif

/// Whom the factories trust and where they live.
enum Platform {
  /// Streams by what the system has: its certificates, its resolver.
  static func dialer(on loop: SocketEventLoop) throws -> sending PlatformDialer {
    #if os(Linux)
      SchemeDialer(TCPDialer(loop: loop), configuration: try TLSConfiguration())
    #else
      NWDialer(loop: loop)
    #endif
  }
}
