import Foundation
import Synchronization

/// Standard output and standard error, by whole lines.
///
/// Every line is written at once, so that a pipe shows what happens when it happens; a lock keeps
/// the lines of two threads apart.
enum Console {
  private static let lock = Mutex(())

  /// Colour is for a terminal, unless the user said no (https://no-color.org).
  static let usesColour: Bool = {
    let environment = ProcessInfo.processInfo.environment
    return isatty(STDOUT_FILENO) == 1 && environment["NO_COLOR", default: ""].isEmpty
      && environment["TERM"] != "dumb"
  }()

  /// Writes a line, or several, to standard output.
  static func print(_ text: String) { put(text + "\n", to: STDOUT_FILENO) }

  /// Writes bytes to standard output, or to a file that is open for writing.
  static func output(_ bytes: [UInt8], to descriptor: Int32) { put(bytes, to: descriptor) }

  /// Writes a complaint to standard error.
  static func complain(_ text: String) { put("fsm-demo: \(text)\n", to: STDERR_FILENO) }

  /// Writes a line for people to standard error, where standard output is for programs.
  static func remark(_ text: String) { put(text + "\n", to: STDERR_FILENO) }

  /// Shows how far something is: on a terminal alone, where the next line takes its place.
  static func progress(_ text: String) {
    guard isatty(STDERR_FILENO) == 1 else { return }
    // To the start of the line, and clear to its end.
    put("\r\u{1B}[K" + text, to: STDERR_FILENO)
  }

  private static func put(_ text: String, to descriptor: Int32) {
    put(Array(text.utf8), to: descriptor)
  }

  private static func put(_ all: [UInt8], to descriptor: Int32) {
    let problem = lock.withLock { _ in
      var bytes = all[...]
      while !bytes.isEmpty {
        let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        if count >= 0 {
          bytes.removeFirst(count)
        } else if errno == EAGAIN {
          // Somebody who shares the terminal or the pipe made it non-blocking.
          var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          poll(&room, 1, -1)
        } else if errno != EINTR {
          return errno
        }
      }
      return 0
    }
    if problem != 0, descriptor != STDERR_FILENO {
      giveUp(problem, on: descriptor == STDOUT_FILENO ? "standard output" : "the output file")
    }
  }

  /// Nobody reads what we have to say, or there is no room for it.
  private static func giveUp(_ problem: Int32, on output: String) -> Never {
    if problem == EPIPE {
      // `fsm-demo | head`: end as any program does that left SIGPIPE alone.
      signal(SIGPIPE, SIG_DFL)
      raise(SIGPIPE)
    }
    complain("\(output): \(String(cString: strerror(problem)))")
    exit(ExitStatus.ioError.rawValue)
  }
}
