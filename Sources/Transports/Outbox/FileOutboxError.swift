/// Why a ``FileOutbox`` cannot be opened.
public enum FileOutboxError: Error, Equatable, Sendable {
  /// Another outbox, of this process or another one, has the file.
  case inUse(path: String)
  /// What is there is not an outbox: it has another format, or is no file.
  case otherFormat(path: String)
  /// The file was written by a newer version of this package.
  case unknownVersion(UInt32, path: String)
  /// The file was on disk, and has changed since, at or behind this offset. It is left as it is.
  case damaged(path: String, offset: Int, reason: String)
  /// The folder of the file does not exist.
  case noFolder(path: String)
  /// The system does not let this process at the file or its folder.
  case accessDenied(path: String)
  /// There is no room for the file.
  case noSpace(path: String)
  /// Anything else that the system refused, in its words.
  case system(path: String, reason: String)
  /// A limit is outside of what it may be.
  case limit(name: String, value: Int, allowed: ClosedRange<Int>)
}

extension FileOutboxError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .inUse(let path):
      "\(path): is in use by another outbox; use one outbox for a file, and close it first"
    case .otherFormat(let path):
      "\(path): is not an outbox; name another path, or move it away"
    case .unknownVersion(let version, let path):
      "\(path): has version \(version) of the format, this is for \(OutboxFormat.version); "
        + "update the package, or move the file away"
    case .damaged(let path, let offset, let reason):
      "\(path): damaged at byte \(offset): \(reason); put a copy of it in place, or move it away: "
        + "then a new one begins, without its messages"
    case .noFolder(let path): "\(path): its folder does not exist; make it first"
    case .accessDenied(let path):
      "\(path): access is denied; the file and its folder must be writable"
    case .noSpace(let path): "\(path): there is no space left; make room"
    case .system(let path, let reason): "\(path): \(reason)"
    case .limit(let name, let value, let allowed):
      "\(name) is \(value); it must be \(allowed.lowerBound) to \(allowed.upperBound)"
    }
  }
}
