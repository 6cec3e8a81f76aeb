public import ConnectionFSM

// For tasks. A task that is cancelled takes its request back, if that is still possible.
extension ByteChannel {
  /// Connects, once in the channel's life, and waits for that; a task that is cancelled meanwhile
  /// closes the channel.
  /// - Parameters:
  ///   - endpoint: Where to.
  ///   - timeout: For all of it: name, attempts, handshakes. Nil is no limit but the system's.
  /// - Throws: ``ChannelError/closed(_:)`` with what went wrong.
  public func connect(
    to endpoint: Endpoint, timeout: TimeSpan? = .seconds(10)
  ) async throws(ChannelError) {
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        connect(to: endpoint, timeout: timeout) { continuation.resume(returning: $0) }
      }
    } onCancel: {
      close()
    }
    try result.get()
  }

  /// Asks for bytes and waits for them.
  /// - Parameters:
  ///   - request: Which bytes.
  ///   - timeout: From when the read is first in line and the stream is open; nil is no limit.
  /// - Throws: Why there are none.
  public func read(
    _ request: ReadRequest, timeout: TimeSpan? = nil
  ) async throws(ChannelError) -> [UInt8] {
    let id = nextID()
    let result = await cancellable(id) { done in
      read(request, as: id, PendingRead(tag: 0, onTimeout: nil) { done($1) }, timeout)
    }
    return try result.get()
  }

  /// Writes bytes behind those that wait, and waits until the system took the last one.
  /// - Parameters:
  ///   - bytes: What to write.
  ///   - timeout: From when the write is first in line and the stream is open; nil is no limit.
  /// - Throws: Why they were not written. After ``ChannelError/bufferFull`` wait for
  ///   ``writable()``.
  public func write(
    _ bytes: [UInt8], timeout: TimeSpan? = nil
  ) async throws(ChannelError) {
    let id = nextID()
    let result: Result<Void, ChannelError> = await cancellable(id) { done in
      write(bytes, as: id, PendingWrite(tag: 0, onTimeout: nil) { done($1) }, timeout)
    }
    try result.get()
  }

  /// Waits until there is room for what was refused with ``ChannelError/bufferFull``; comes back at
  /// once if nothing was.
  public func writable() async throws(ChannelError) {
    let id = nextID()
    let error = await cancellable(id) { done in whenWritable(id, done) }
    if let error { throw error }
  }

  /// Ends in order, like ``closeAfterWriting(linger:completion:)``, and waits for it, even in a
  /// cancelled task.
  @discardableResult
  public func closeAfterWriting(linger: TimeSpan = .seconds(10)) async -> Cause {
    await withCheckedContinuation { continuation in
      closeAfterWriting(linger: linger) { continuation.resume(returning: $0) }
    }
  }

  private func cancellable<Value: Sendable>(
    _ id: RequestID, _ ask: (@escaping @Sendable (Value) -> Void) -> Void
  ) async -> Value {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        ask { continuation.resume(returning: $0) }
        // Cancelled before it was asked: the handler's call came first, and found nothing.
        if Task.isCancelled { cancel(id) }
      }
    } onCancel: {
      cancel(id)
    }
  }
}
