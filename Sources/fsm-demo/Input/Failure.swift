/// Why the tool stops, in words for the user and a status for scripts.
struct Failure: Error {
  let status: ExitStatus
  let message: String

  init(_ status: ExitStatus, _ message: String) {
    self.status = status
    self.message = message
  }
}

/// The statuses of `fsm-demo`; those from 64 on are the numbers of sysexits(3).
enum ExitStatus: Int32 {
  /// The scenario did not go as it says, or the connection is closed for good.
  case failed = 1
  /// The command line makes no sense.
  case usage = 64
  /// The file is no scenario.
  case badData = 65
  /// The file cannot be read.
  case noInput = 66
  /// The address cannot be served.
  case unavailable = 69
  /// Standard output, or a file, cannot be written.
  case ioError = 74
  /// Interrupted before the end (128 + SIGINT).
  case interrupted = 130
}
