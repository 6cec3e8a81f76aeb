import ConnectionFSM

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Reads an outbox file from its beginning.
///
/// A record that is not whole is one of two things. A kill or a power cut during a write leaves a
/// torn tail, of which nobody was told that it is safe: it is cut. Everything else is damage to
/// what was on disk: it is told, and nothing is guessed about it.
struct OutboxReader {
  /// What is in the file.
  struct Content {
    /// The messages that have not ended, oldest first, and where each stands.
    var kept: [(message: KeptMessage, entry: OutboxEntry)?] = []
    var nextNumber: UInt64 = 1
    /// How far the records are whole.
    var end = 0
  }

  // One call for many records, whatever their size.
  private static let windowSize = 256 << 10
  // A disk writes this much as a whole or not at all; larger sectors are multiples of it.
  private static let sector = 512

  private let path: String
  private let file: Int32
  private let size: Int
  private let calls: FileCalls
  private var window: [UInt8] = []
  private var windowStart = 0

  init(path: String, file: Int32, size: Int, calls: FileCalls) {
    self.path = path
    self.file = file
    self.size = size
    self.calls = calls
  }

  /// Reads all of it, up to the end or a torn tail.
  mutating func content() throws(FileOutboxError) -> Content {
    let head = try head()
    var content = Content()
    content.nextNumber = head.nextNumber
    content.end = OutboxFormat.headSize
    /// Where each message stands in `kept`; what has ended leaves a hole there.
    var places: [UInt64: Int] = [:]
    var last: UInt64 = 0
    while let record = try record(at: content.end) {
      switch record.statement {
      case .keep:
        guard record.number > last else { throw damage(content.end, "its numbers do not rise") }
        last = record.number
        places[record.number] = content.kept.count
        let entry = OutboxEntry(
          number: record.number, offset: content.end, length: record.length)
        let payload = try bytes(at: entry.payloadOffset, count: record.length)
        let message = KeptMessage(number: record.number, message: record.message(payload))
        content.kept.append((message, entry))
      case .forget:
        guard let place = places.removeValue(forKey: record.number) else {
          throw damage(content.end, "it ends a message that it does not hold")
        }
        content.kept[place] = nil
      }
      content.end += record.size
    }
    guard content.end >= head.safe else {
      throw damage(content.end, "what follows was safe, and is broken or missing")
    }
    content.nextNumber = max(content.nextNumber, last + 1)
    return content
  }

  private mutating func head() throws(FileOutboxError) -> OutboxHead {
    let bytes = try bytes(at: 0, count: min(size, OutboxFormat.headSize))
    do throws(OutboxHead.Failure) {
      return try OutboxHead(bytes)
    } catch {
      switch error {
      case .otherFormat: throw .otherFormat(path: path)
      case .version(let version): throw .unknownVersion(version, path: path)
      case .damaged: throw damage(0, "its head is broken")
      }
    }
  }

  /// The record at an offset, its payload checked; nil at the end, and where a torn tail begins.
  private mutating func record(at offset: Int) throws(FileOutboxError) -> OutboxRecord? {
    guard size - offset >= OutboxFormat.recordHeadSize else { return nil }
    guard let record = OutboxRecord(try bytes(at: offset, count: OutboxFormat.recordHeadSize))
    else {
      return try torn(offset..<(offset + OutboxFormat.recordHeadSize), at: offset)
    }
    guard record.size <= size - offset else { return nil }
    guard record.length > 0 else { return record }
    let start = offset + OutboxFormat.recordHeadSize
    let payload = try bytes(at: start, count: record.length + 4)
    guard OutboxFormat.checksum(payload.dropLast(4)) == payload.number(at: record.length) else {
      return try torn(start..<(offset + record.size), at: offset)
    }
    return record
  }

  /// Looks at bytes that do not check, of the record at an offset. Nil: a power cut has left them.
  ///
  /// All bytes of the record are there, so no kill has cut it off. After a power cut a file can be
  /// as long as it was to be, without all that was written: a sector that never reached the disk
  /// reads as zeros. And a record behind it may say that this one was on disk already. A change
  /// within sectors, or before such a record, is no power cut's.
  private mutating func torn(
    _ part: Range<Int>, at offset: Int
  ) throws(FileOutboxError) -> OutboxRecord? {
    var start = part.lowerBound
    var lacksSector = false
    while start < part.upperBound {
      let end = min(part.upperBound, (start / Self.sector + 1) * Self.sector)
      if try bytes(at: start, count: end - start).allSatisfy({ $0 == 0 }) { lacksSector = true }
      start = end
    }
    guard lacksSector else { throw damage(offset, "a record is broken") }
    var behind = offset + 1
    while size - behind >= OutboxFormat.recordHeadSize {
      let bytes = try bytes(at: behind, count: OutboxFormat.recordHeadSize)
      if let record = OutboxRecord(bytes), record.safe > offset {
        throw damage(offset, "a record is broken that was safe")
      }
      behind += 1
    }
    return nil
  }

  private func damage(_ offset: Int, _ reason: String) -> FileOutboxError {
    .damaged(path: path, offset: offset, reason: reason)
  }

  /// Bytes of the file, which has that many there.
  private mutating func bytes(
    at offset: Int, count: Int
  ) throws(FileOutboxError) -> ArraySlice<UInt8> {
    if offset < windowStart || offset + count > windowStart + window.count {
      let length = min(size - offset, max(count, Self.windowSize))
      do throws(FileFailure) {
        window = try calls.readWhole(file, at: offset, count: length)
      } catch {
        throw error.error(at: path)
      }
      windowStart = offset
    }
    return window[(offset - windowStart)..<(offset - windowStart + count)]
  }
}

/// Where a kept message stands in its file.
struct OutboxEntry: Equatable {
  let number: UInt64
  let offset: Int
  /// Of the payload.
  let length: Int

  var size: Int { OutboxFormat.recordSize(payload: length) }
  var payloadOffset: Int { offset + OutboxFormat.recordHeadSize }
}
