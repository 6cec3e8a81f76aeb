import ConnectionFSM

// MARK: Results

extension ChannelCore {
  func handle(_ input: ReadRequests.Input) {
    reads.handle(input, at: loop.now, into: &readEffects)
    deliverReads()
  }

  func handle(_ input: WriteRequests.Input) {
    writes.handle(input, at: loop.now, into: &writeEffects)
    deliverWrites()
  }

  func deliverReads() {
    let effects = readEffects
    readEffects.removeAll(keepingCapacity: true)
    for effect in effects {
      switch effect {
      case .met(let id, let bytes): finishRead(id, .success(bytes))
      case .failed(let id, let error): finishRead(id, .failure(error))
      case .expired(let id, let count):
        handle(.answered(id, pendingReads[id]?.onTimeout?(count)) as ReadRequests.Input)
      }
    }
  }

  private func finishRead(_ id: RequestID, _ result: Result<[UInt8], ChannelError>) {
    guard let read = pendingReads.removeValue(forKey: id) else { return }
    read.completion(read.tag, result)
  }

  private func deliverWrites() {
    let effects = writeEffects
    writeEffects.removeAll(keepingCapacity: true)
    for effect in effects {
      switch effect {
      case .written(let id): finishWrite(id, .success(()))
      case .failed(let id, let error): finishWrite(id, .failure(error))
      case .expired(let id, let count):
        handle(.answered(id, pendingWrites[id]?.onTimeout?(count)) as WriteRequests.Input)
      case .writable:
        onEvent(.writable)
        let waiters = writableWaiters
        writableWaiters = []
        for waiter in waiters { waiter.completion(nil) }
      case .gaveUp: end(.timedOut(.write))
      }
    }
  }

  private func finishWrite(_ id: RequestID, _ result: Result<Void, ChannelError>) {
    guard let write = pendingWrites.removeValue(forKey: id) else { return }
    write.completion(write.tag, result)
  }

  func end(_ cause: Cause) {
    guard !isOver else { return }
    stage = .over(cause)
    let diagnosis = stream?.diagnosis
    stream?.close()
    stream = nil
    connectDeadline = nil
    lingerDeadline = nil
    rearm()
    connected?(.failure(.closed(cause)))
    connected = nil
    handle(cause == .closedByUser ? .closed : .failed(cause) as ReadRequests.Input)
    handle(.failed(cause) as WriteRequests.Input)
    let waiters = writableWaiters
    writableWaiters = []
    for waiter in waiters { waiter.completion(.closed(cause)) }
    if let diagnosis { diagnosed?(diagnosis) }
    onEvent(.closed(cause))
    let completions = closed
    closed = []
    for completion in completions { completion(cause) }
  }
}
