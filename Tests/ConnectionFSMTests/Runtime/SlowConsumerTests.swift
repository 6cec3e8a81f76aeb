import ConnectionFSM
import Testing

@Suite("Messages: each consumer at its own pace")
struct SlowConsumerTests {
  /// What a consumer gets of five messages of which it reads none in time.
  private func got(
    _ policy: SlowConsumerPolicy, limit: Int, _ texts: [String] = ["a1", "b1", "a2", "c1", "a3"]
  ) throws -> (heard: [String], missed: Messages.Missed, orders: [String]) {
    let rig = try ConnectionRig(policy: plainPolicy())
    let messages = rig.connection.messages(bufferingUpTo: limit, whenFull: policy)
    rig.open()
    for text in texts { rig.transport.receive(text, on: 1) }
    let log = rig.log
    let reader = Task(executorPreference: rig.loop) {
      do { for try await message in messages { log.add(message.text) } } catch {
        log.add("\(type(of: error))")
      }
    }
    rig.loop.settle()
    reader.cancel()
    rig.loop.settle()
    return (log.all, messages.missed, Array(rig.transport.orders.dropFirst()))
  }

  @Test("F48: one that is to be disconnected gets what was in time, and then the error")
  func disconnect() throws {
    let (heard, _, orders) = try got(.disconnect, limit: 3)
    #expect(heard == ["a1", "b1", "a2", "SlowConsumer"])
    #expect(orders == [])
  }

  @Test("F48: where the oldest make room the latest are there, and the others are counted")
  func dropOldest() throws {
    let (heard, missed, orders) = try got(.dropOldest, limit: 2)
    #expect(heard == ["c1", "a3"])
    #expect([missed.dropped, missed.conflated] == [3, 0])
    #expect(orders == [])
  }

  @Test("F52: of each key there is the latest, in the place of the earlier one, and a count")
  func conflate() throws {
    let byLetter = SlowConsumerPolicy.conflate { message in message.text.first.map(String.init) }
    let (heard, missed, _) = try got(byLetter, limit: 3)
    #expect(heard == ["a3", "b1", "c1"])
    #expect([missed.dropped, missed.conflated] == [0, 2])
  }

  @Test("F52, I21: keys beyond the limit make the oldest go; one without a key is kept as it is")
  func conflateBeyondLimit() throws {
    let byLetter = SlowConsumerPolicy.conflate { message in
      message.text.first == "-" ? nil : message.text.first.map(String.init)
    }
    let (heard, missed, _) = try got(byLetter, limit: 2, ["a1", "-", "-", "a2", "-", "a3"])
    #expect(heard == ["a3", "-"])
    #expect([missed.dropped, missed.conflated] == [3, 1])
  }

  @Test("F48, I17: one that suspends reading holds the link until half of its buffer is free")
  func suspendReading() throws {
    let rig = try ConnectionRig(policy: plainPolicy())
    let (slow, other) = (
      rig.connection.messages(bufferingUpTo: 2, whenFull: .suspendReading),
      rig.connection.messages()
    )
    rig.open()
    for text in ["a", "b", "c"] { rig.transport.receive(text, on: 1) }
    #expect(rig.transport.orders.suffix(1) == ["hold #1"])
    let log = rig.log
    let reader = Task(executorPreference: rig.loop) {
      for try await message in slow { log.add(message.text) }
    }
    rig.loop.settle()
    #expect(log.all == ["a", "b", "c"], "the one that was on its way is not lost")
    #expect(rig.transport.orders.suffix(2) == ["hold #1", "resume #1"])
    #expect(slow.missed.dropped == 0)
    reader.cancel()
    rig.loop.settle()
    withExtendedLifetime(other) {}
  }

  @Test("F48: over a transport that cannot wait it ends at twice its limit")
  func suspendInVain() throws {
    let (heard, _, orders) = try got(.suspendReading, limit: 2)
    #expect(heard == ["a1", "b1", "a2", "c1", "SlowConsumer"])
    #expect(orders == ["hold #1", "resume #1"])
  }

  @Test("I19, F43: while a consumer holds the link, silence does not count against the peer")
  func holdingIsNoSilence() throws {
    let rig = try ConnectionRig(
      policy: plainPolicy(heartbeat: Heartbeat(interval: .seconds(10), timeout: .seconds(4))))
    var slow: Messages? = rig.connection.messages(bufferingUpTo: 1, whenFull: .suspendReading)
    rig.open()
    rig.transport.receive("a", on: 1)
    rig.loop.advance(by: .seconds(60))
    #expect(!rig.transport.orders.contains("abort #1"))
    #expect(rig.transport.orders.filter { $0.hasPrefix("ping") }.count >= 5)
    withExtendedLifetime(slow) {}
    slow = nil
    rig.loop.settle()
    #expect(rig.transport.orders.last == "resume #1")
    rig.loop.advance(by: .seconds(14))
    #expect(rig.transport.orders.last == "abort #1", "judged again once somebody reads")
  }

  @Test("F48: a link that opens while a consumer holds is held from the start")
  func heldFromTheStart() throws {
    let rig = try ConnectionRig(policy: plainPolicy())
    let slow = rig.connection.messages(bufferingUpTo: 1, whenFull: .suspendReading)
    rig.open()
    rig.transport.receive("a", on: 1)
    rig.transport.report(.closed(nil), on: 1)
    rig.loop.advance(by: .seconds(2))
    rig.transport.report(.opened, on: 2)
    #expect(rig.transport.orders.last == "hold #2")
    withExtendedLifetime(slow) {}
  }

  @Test("F48: tasks that share a sequence get each message once; a cancelled one gets the end")
  func shared() throws {
    let rig = try ConnectionRig(policy: plainPolicy())
    let messages = rig.connection.messages()
    let log = rig.log
    let readers = (0..<2).map { _ in
      Task(executorPreference: rig.loop) {
        for try await message in messages { log.add(message.text) }
        log.add("end")
      }
    }
    rig.open()
    for text in ["a", "b", "c"] { rig.transport.receive(text, on: 1) }
    #expect(log.all.sorted() == ["a", "b", "c"])
    readers[0].cancel()
    rig.loop.settle()
    rig.transport.receive("d", on: 1)
    #expect(log.all.sorted() == ["a", "b", "c", "d", "end"])
    readers[1].cancel()
    rig.loop.settle()
  }

  @Test("F58, I18: letting go of the sequence ends the interest; a stopped loop ends the sequence")
  func letGo() throws {
    let rig = try ConnectionRig(policy: plainPolicy())
    var messages: Messages? = rig.connection.messages(bufferingUpTo: 1, whenFull: .suspendReading)
    rig.open()
    rig.transport.receive("a", on: 1)
    withExtendedLifetime(messages) {}
    messages = nil
    rig.loop.settle()
    #expect(rig.transport.orders.last == "resume #1")
    rig.loop.stop()
    let late = rig.connection.messages()
    let log = rig.log
    let loop = ManualLoop()
    Task(executorPreference: loop) {
      for try await _ in late {}
      log.add("end")
    }
    loop.settle()
    #expect(log.all == ["end"])
  }
}
