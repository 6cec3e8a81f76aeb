public import ConnectionFSM

/// Why a recording cannot begin, or has ended.
public enum RecordingError: Error, Equatable, Sendable {
  /// A setting that cannot be, and what would do.
  case setting(_ name: String, mend: String)
  /// The system refused something: what, at which path, and its reason.
  case system(step: String, path: String, SystemError, reason: String)
}

extension RecordingError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .setting(let name, let mend): "recording: \(name): \(mend)"
    case .system(let step, let path, _, let reason): "recording: \(step) \(path): \(reason)"
    }
  }
}
