import ConnectionFSM
import Foundation
import Testing
import Transports

@Suite("The outbox in a file", .timeLimit(.minutes(2)))
struct FileOutboxTests {
  @Test("RC199: what was kept and has not ended is there for the next process, oldest first")
  func survives() async throws {
    let folder = try OutboxFolder()
    var continued = Message(bytes: [3], kind: .binary)
    continued.isContinued = true
    let messages = [
      Message("text"), Message(bytes: [0, 0xff, 10], kind: .binary),
      Message(bytes: Array("{}".utf8), kind: .object),
      Message(bytes: [1, 2], kind: .unknown(77)), Message(""), continued,
    ]
    let outbox = try folder.open()
    #expect(outbox.recovered.isEmpty)
    var numbers: [UInt64] = []
    for message in messages { numbers.append(try await outbox.keep(message).get()) }
    outbox.forget(numbers[1])
    outbox.forget(numbers[4])
    await outbox.close()

    let next = try folder.open()
    #expect(next.recovered.map(\.message) == [0, 2, 3, 5].map { messages[$0] })
    #expect(next.recovered.map(\.number) == [0, 2, 3, 5].map { numbers[$0] })
    #expect(next.tornTail == nil)
    // The same for the life of the value.
    next.forget(numbers[0])
    await next.close()
    #expect(next.recovered.count == 4)
    #expect(try await folder.recovered().map(\.number) == [numbers[2], numbers[3], numbers[5]])
  }

  @Test("numbers rise from process to process, also when nothing is left")
  func numbersRise() async throws {
    let folder = try OutboxFolder()
    var last: UInt64 = 0
    for round in 0..<4 {
      // Every other one compacts.
      let outbox = try folder.open(compactsFrom: round.isMultiple(of: 2) ? 1 : 1 << 20)
      for _ in 0..<3 {
        let number = try await outbox.keep("word")
        #expect(number > last)
        last = number
        outbox.forget(number)
      }
      await outbox.close()
      #expect(try await folder.recovered().isEmpty)
    }
  }

  @Test("I11: completions come in the order of the calls, on another thread, also of refusals")
  func completionsInOrder() async throws {
    let folder = try OutboxFolder()
    let outbox = try folder.open(countLimit: 20, byteLimit: 1000)
    let heard = Completions()
    func offer() {
      let caller = ObjectIdentifier(Thread.current)
      for index in 0..<50 {
        let size = index.isMultiple(of: 10) ? 1001 : 1
        outbox.keep(Message(bytes: Array(repeating: 7, count: size))) { result in
          #expect(ObjectIdentifier(Thread.current) != caller)
          heard.add(index, result)
        }
      }
    }
    offer()
    await outbox.close()
    #expect(heard.all.map(\.index) == Array(0..<50))
    for (index, result) in heard.all {
      switch index {
      case _ where index.isMultiple(of: 10): #expect(result == .failure(.tooLarge))
      case ..<23: #expect(try result.get() > 0)
      default: #expect(result == .failure(.full))
      }
    }
  }

  @Test("I21: holds so many messages and bytes, and has their room again when they have ended")
  func bounds() async throws {
    let folder = try OutboxFolder()
    let outbox = try folder.open(countLimit: 3, byteLimit: 10)
    let first = try await outbox.keep("1234")
    let second = try await outbox.keep("567890")
    #expect(await outbox.keep(Message("1")) == .failure(.full))
    let empty = try await outbox.keep("")
    #expect(await outbox.keep(Message("")) == .failure(.full))
    #expect(await outbox.keep(Message("12345678901")) == .failure(.tooLarge))
    outbox.forget(first)
    // What is not kept gives no room.
    outbox.forget(first)
    outbox.forget(12345)
    #expect(await outbox.keep(Message("12345")) == .failure(.full))
    let third = try await outbox.keep("1234")
    await outbox.close()

    // A smaller one loses nothing, and takes nothing until there is room.
    let smaller = try folder.open(countLimit: 2, byteLimit: 5)
    #expect(smaller.recovered.map(\.number) == [second, empty, third])
    smaller.forget(empty)
    smaller.forget(second)
    #expect(await smaller.keep(Message("12")) == .failure(.full))
    #expect(try await smaller.keep("1") > third)
    await smaller.close()
  }

  @Test("F46: its file stays within twice what it may hold, whatever passes through")
  func compacts() async throws {
    let folder = try OutboxFolder()
    let outbox = try folder.open(
      countLimit: 10, byteLimit: 1000, fsync: .never, compactsFrom: 2000)
    var held: [UInt64] = []
    var largest = 0
    for index in 0..<500 {
      held.append(try await outbox.keep(Message(bytes: [UInt8](repeating: 1, count: 90))).get())
      if held.count == 10 { outbox.forget(held.remove(at: index % 10)) }
      largest = max(largest, try folder.bytes.count)
    }
    await outbox.close()
    // Twice the 10 messages with their heads, and what comes until it is noticed.
    #expect(largest < 3200)
    #expect(try folder.names == ["outbox"])
    #expect(try await folder.recovered().map(\.number) == held)
  }

  @Test("a file has one outbox at a time; the second is told so")
  func locked() async throws {
    let folder = try OutboxFolder()
    let first = try folder.open(compactsFrom: 1)
    #expect(throws: FileOutboxError.inUse(path: folder.file)) { try folder.open() }
    // It is another file after this.
    first.forget(try await first.keep("word"))
    _ = try await first.keep("word")
    #expect(throws: FileOutboxError.inUse(path: folder.file)) { try folder.open() }
    await first.close()
    let second = try folder.open()
    #expect(await first.keep(Message("late")) == .failure(.store("it was closed")))
    #expect(second.recovered.count == 1)
    await second.close()
  }

  @Test("a released outbox writes what it was given, and lets go of the file")
  func released() async throws {
    let folder = try OutboxFolder()
    let heard = Completions()
    do {
      let outbox = try folder.open()
      for index in 0..<50 {
        outbox.keep(Message("\(index)")) { heard.add(index, $0) }
      }
    }
    var next: FileOutbox?
    while next == nil {
      do {
        next = try folder.open()
      } catch FileOutboxError.inUse {
        await Task.yield()
      }
    }
    #expect(heard.numbers.count == 50)
    #expect(next?.recovered.texts == (0..<50).map { "\($0)" })
  }

  @Test("its file is for its user alone")
  func permissions() async throws {
    let folder = try OutboxFolder()
    func mode() throws -> Int? {
      let attributes = try FileManager.default.attributesOfItem(atPath: folder.file)
      return attributes[.posixPermissions] as? Int
    }
    // Whoever makes it beforehand, with other rights.
    try folder.put([])
    let outbox = try folder.open(compactsFrom: 1)
    #expect(try mode() == 0o600)
    outbox.forget(try await outbox.keep("word"))
    await outbox.close()
    #expect(try mode() == 0o600)
  }
}
