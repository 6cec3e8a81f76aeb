#if os(Linux)
  public import ConnectionFSM

  extension TLSStream {
    public func write(_ bytes: RawSpan) -> WriteResult {
      guard stage == .open, let session else {
        return stage == .closed ? .failed(.system(.notConnected)) : .wouldBlock
      }
      if let writeFailure { return .failed(writeFailure) }
      guard !hasFinishedWriting else { return .failed(.system(.brokenPipe)) }
      guard bytes.byteCount > 0 else { return .wrote(0) }
      let taken = bytes.withUnsafeBytes { write($0, to: session) }
      if taken > 0 { return .wrote(taken) }
      if let writeFailure { return .failed(writeFailure) }
      isWriterWaiting = true
      return .wouldBlock
    }

    private func write(_ bytes: UnsafeRawBufferPointer, to session: TLSSession) -> Int {
      var taken = 0
      flush()
      while taken < bytes.count, writeFailure == nil, session.output == nil {
        let end = min(bytes.count, taken + TLSSession.recordLimit)
        switch session.write(.init(rebasing: bytes[taken..<end])) {
        case .done: taken = end
        case .wantsOutput: break
        // In the middle of a message of TLS's own, a ticket in two records: `announce` goes on.
        case .wantsInput: return taken
        case .ended: writeFailure = .tls(.closed)
        case .failed(let error):
          self.error = self.error ?? error
          writeFailure = error.cause
        }
        flush()
      }
      return taken
    }

    /// Sends close_notify behind what was written, and then finishes the stream below. Before the
    /// stream is open, it follows the opening; repeated calls do no harm.
    public func finishWriting() {
      guard stage != .closed, !hasFinishedWriting else { return }
      hasFinishedWriting = true
      if stage == .open { flush() }
    }

    /// Hands what is encrypted to the stream below, as far as that takes it.
    func flush() {
      guard let session, let base else { return }
      while writeFailure == nil, !isFull {
        guard let output = session.output else {
          guard hasFinishedWriting, stage == .open, !hasFinishedBase else { return }
          if hasSaidGoodbye {
            hasFinishedBase = true
            return base.finishWriting()
          }
          hasSaidGoodbye = session.sayGoodbye()
          continue
        }
        switch base.write(output.bytes) {
        case .wrote(let count): session.dropOutput(count)
        case .wouldBlock: isFull = true
        case .failed(let cause): writeFailure = cause
        }
      }
    }

    func baseWritable() {
      isFull = false
      if stage == .handshaking { return shakeHands() }
      guard stage == .open, let session else { return }
      flush()
      let isEmpty = session.output == nil
      if isWriterWaiting, isEmpty || writeFailure != nil {
        isWriterWaiting = false
        observer?.streamWritable()
      }
      // Reading may have waited for room, to answer a KeyUpdate.
      if isEmpty { announce() }
    }
  }
#endif
