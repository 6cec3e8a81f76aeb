import ConnectionFSM
import Foundation
import Transports

/// What of one file would be left if the process were killed, or the power cut, at any moment.
///
/// The system's calls change the file, which so is what a kill leaves. Beside it stands what the
/// disk has for certain: what was there at the last fsync, and which file had the name at the last
/// fsync of the folder. A power cut leaves of everything since then any sectors.
final class ShadowDisk: @unchecked Sendable {
  // Unchecked: called by whoever opens the outbox, and then by its thread alone.

  struct File {
    /// What the disk has for certain.
    var safe: [UInt8] = []
    /// Its last bytes, if it has no name any more.
    var last: [UInt8]?
  }

  /// What the next process finds, and what a power cut in its life still may take from it.
  struct Leftover {
    /// Nil: no file.
    var bytes: [UInt8]?
    /// What the disk has of it for certain.
    var safe: [UInt8] = []
    /// Whether the disk has its name for certain; otherwise the former file may return.
    var hasSafeName = true
    var former: File?
  }

  /// Called before each call that changes something, or makes it safe.
  var atMoment: (ShadowDisk) -> Void = { _ in }

  private let path: String
  private var files: [UInt64: File] = [:]
  /// Which of them has the name after a power cut, for certain; nil: none.
  private var safeName: UInt64?
  private var random: SplitMix64

  /// Puts that in place.
  init(_ leftover: Leftover, at path: String, seed: UInt64) throws {
    self.path = path
    random = SplitMix64(seed: seed)
    if let bytes = leftover.bytes { try Data(bytes).write(to: URL(fileURLWithPath: path)) }
    let name = name(of: path)
    if let name { files[name] = File(safe: leftover.safe) }
    if leftover.hasSafeName {
      safeName = name
    } else if let former = leftover.former {
      // No file has this number.
      safeName = 0
      files[0] = former
    }
  }

  /// What a kill leaves.
  var killed: Leftover {
    guard let name = name(of: path) else { return Leftover() }
    return Leftover(
      bytes: Self.bytes(at: path), safe: files[name]?.safe ?? [], hasSafeName: name == safeName,
      former: safeName.flatMap { files[$0] })
  }

  /// What a power cut may leave: another draw each time.
  func powerless() -> Leftover {
    guard let name = random.next() % 2 == 0 ? safeName : name(of: path) else { return Leftover() }
    let safe = files[name]?.safe ?? []
    let current = files[name]?.last ?? Self.bytes(at: path)
    let size =
      switch random.next() % 3 {
      case 0: safe.count
      case 1: current.count
      default:
        min(safe.count, current.count)
          + Int(random.next() % UInt64(abs(safe.count - current.count) + 1))
      }
    var bytes: [UInt8] = []
    while bytes.count < size {
      let source = random.next() % 2 == 0 ? safe : current
      let sector = source.dropFirst(bytes.count).prefix(512)
      bytes += sector + [UInt8](repeating: 0, count: 512 - sector.count)
    }
    bytes.removeLast(bytes.count - size)
    return Leftover(bytes: bytes, safe: bytes)
  }

  var calls: FileCalls {
    let system = FileCalls.system
    var calls = system
    calls.write = { [self] file, bytes, offset in
      atMoment(self)
      // A number that was another file's.
      if offset == 0 { files[Self.name(of: file)] = File() }
      // A kill can come between any two of these, a few bytes each.
      let piece = bytes.prefix(1 + Int(random.next() % 8000))
      return system.write(file, UnsafeRawBufferPointer(rebasing: piece), offset)
    }
    calls.sync = { [self] file in
      atMoment(self)
      files[Self.name(of: file), default: File()].safe = Self.bytes(of: file)
      return 0
    }
    calls.cut = { [self] file, size in
      atMoment(self)
      return system.cut(file, size)
    }
    calls.rename = { [self] old, new in
      atMoment(self)
      if let name = name(of: new) { files[name, default: File()].last = Self.bytes(at: new) }
      return system.rename(old, new)
    }
    calls.syncFolder = { [self] folder in
      atMoment(self)
      safeName = name(of: path)
      return 0
    }
    return calls
  }

  private func name(of path: String) -> UInt64? {
    var status = stat()
    return lstat(path, &status) == 0 ? UInt64(status.st_ino) : nil
  }

  private static func name(of file: Int32) -> UInt64 {
    var status = stat()
    return fstat(file, &status) == 0 ? UInt64(status.st_ino) : 0
  }

  private static func bytes(at path: String) -> [UInt8] {
    let file = open(path, O_RDONLY)
    defer { close(file) }
    return bytes(of: file)
  }

  private static func bytes(of file: Int32) -> [UInt8] {
    var status = stat()
    guard fstat(file, &status) == 0 else { return [] }
    return [UInt8](unsafeUninitializedCapacity: Int(status.st_size)) { buffer, count in
      count = max(0, pread(file, buffer.baseAddress, buffer.count, 0))
    }
  }
}
