#if os(Linux)
  package import ConnectionFSM

  // MARK: What only servers in the tree do

  extension TLSStream: ServedStream where Base == TCPStream {
    /// Closes with a reset: what a crashed or hostile peer does.
    package func reset() {
      base?.reset()
      letGo()
    }
  }

  extension TLSStream {
    /// Begins the handshake of an accepted connection, of which the observer then hears, as of a
    /// dial, that it opened or failed.
    /// - Returns: What is to observe the stream below.
    package func start(observer: any ByteStreamObserver) -> any ByteStreamObserver {
      self.observer = observer
      later { $0.baseOpened() }
      return ear
    }
  }
#endif
