// What the transport asks of a link.

extension StreamLink {
  package func send(_ message: Message, id: MessageID?, more: Bool) {
    let end = output.bytes.count
    engine.send(message, id: id, into: &output)
    // An engine that is over takes nothing; what never left must not count as written.
    if engine.backlog > waiting.count {
      waiting.append((id, message.bytes.count))
      waitingByteCount += message.bytes.count
    } else if output.bytes.count > end {
      marks.append((id, message.bytes.count, output.bytes.count))
    }
    if !more { settle() }
  }

  package func flush() { settle() }

  /// Writes bytes that no engine has made, behind all that was given: what a broken peer does.
  package func write(_ bytes: [UInt8]) {
    output.bytes += bytes
    settle()
  }

  package func setReceiving(_ isReceiving: Bool) {
    guard observer != nil, isReceiving != self.isReceiving else { return }
    self.isReceiving = isReceiving
    stream?.setReading(isReceiving)
    if isReceiving { settle() }
  }

  package func ping(_ number: UInt32) {
    engine.ping(number, into: &output)
    settle()
  }

  package func close() {
    engine.close(at: loop.now, into: &output)
    settle()
  }

  /// Ends the link without a word.
  package func letGo() {
    guard observer != nil else { return }
    observer = nil
    stream?.close()
    if armedAt != nil { loop.arm(self, at: nil) }
    armedAt = nil
    whenOver()
  }
}
