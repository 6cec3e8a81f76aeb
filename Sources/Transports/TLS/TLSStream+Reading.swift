#if os(Linux)
  public import ConnectionFSM

  extension TLSStream {
    public func setReading(_ isReading: Bool) {
      guard stage == .open else { return }
      self.isReading = isReading
      base?.setReading(isReading)
      haveTurn()
    }

    public func read(into buffer: inout MutableRawSpan) -> ReadResult {
      guard stage == .open, let session else {
        return stage == .closed ? .failed(.system(.notConnected)) : .wouldBlock
      }
      guard buffer.byteCount > 0 else { return .wouldBlock }
      let total = buffer.withUnsafeMutableBytes { read(from: session, into: $0) }
      flush()
      haveTurn()
      if total > 0 { return .bytes(total) }
      guard let readEnd else { return .wouldBlock }
      endIsRead = true
      return readEnd
    }

    private func read(
      from session: TLSSession, into buffer: UnsafeMutableRawBufferPointer
    ) -> Int {
      var total = 0
      _ = advance { () -> TLSSession.Step? in
        guard total < buffer.count else { return nil }
        var count = 0
        let step = session.read(into: .init(rebasing: buffer[total...]), count: &count)
        total += count
        return step
      }
      return total
    }

    /// Whether something can be read.
    private func hasSomething(_ session: TLSSession) -> Bool {
      var isSomething = false
      let isOver = advance { () -> TLSSession.Step? in
        if isSomething { return nil }
        let step = session.look()
        if case .done = step { isSomething = true }
        return step
      }
      flush()
      return isSomething || isOver
    }

    /// Repeats a step until it gives nil, or needs what is not there.
    /// - Returns: Whether nothing more follows.
    private func advance(_ step: () -> TLSSession.Step?) -> Bool {
      var reads = 0
      while readEnd == nil {
        switch step() {
        case nil: return false
        case .done: isDry = false
        case .wantsInput:
          // The rest in a later turn.
          guard reads < Self.readsAtOnce else { return false }
          reads += 1
          switch fill() {
          case .bytes: isDry = false
          case .wouldBlock:
            isDry = true
            return false
          case .end:
            endReading(
              TLSError(
                .failure(.tls(.closed)),
                "the stream ended without TLS's own end: cut off, or the "
                  + "peer does not close in order"))
          case .failed(let cause):
            writeFailure = writeFailure ?? cause
            readEnd = .failed(cause)
          }
        case .wantsOutput:
          flush()
          if let writeFailure {
            readEnd = .failed(writeFailure)
          } else if session?.output != nil {
            // Goes on once the stream below has taken it.
            isDry = true
            return false
          }
        case .ended: readEnd = .end
        case .failed(let error):
          // The alert, before nothing is written any more.
          flush()
          writeFailure = writeFailure ?? error.cause
          endReading(error)
        }
      }
      return true
    }

    private func endReading(_ error: TLSError) {
      self.error = error
      readEnd = .failed(error.cause)
    }

    /// Reads from the stream below.
    func fill() -> ReadResult {
      guard let session, let base else { return .wouldBlock }
      return session.receive { base.read(into: &$0) }
    }

    func baseReadable() {
      switch stage {
      case .connecting, .closed: return
      case .handshaking: return shakeHands()
      case .open:
        if readEnd != nil { drain() }
        isDry = false
        announce()
      }
    }

    /// Tells the observer if something can be read, and comes back in the next turn if something
    /// may be left then.
    func announce() {
      guard stage == .open, isReading, !endIsRead, let session else { return }
      // Nobody is left who could read.
      guard let observer else { return close() }
      if readEnd != nil || hasSomething(session) { observer.streamReadable() }
      // A write waited for the rest of a message of TLS's own, which may be read by now.
      if stage == .open, isWriterWaiting, !isFull {
        isWriterWaiting = false
        observer.streamWritable()
      }
      haveTurn()
    }

    func haveTurn() {
      let mayHaveSomething = readEnd != nil ? !endIsRead : !isDry
      guard stage == .open, isReading, mayHaveSomething, !turnIsAhead else { return }
      turnIsAhead = true
      later { stream in
        stream.turnIsAhead = false
        stream.announce()
      }
    }

    /// Behind the end the stream below has its own, and perhaps words that nobody asked for. Left
    /// unread they would keep its loop busy.
    private func drain() {
      var scrap: UInt64 = 0
      withUnsafeMutableBytes(of: &scrap) { scrap in
        var bytes = scrap.mutableBytes
        for _ in 0..<Self.readsAtOnce {
          guard case .bytes = base?.read(into: &bytes) else { return }
        }
      }
    }
  }
#endif
