public import ConnectionFSM

/// Why a ``SocketEventLoop`` could not be made.
public struct LoopError: Error, Equatable, CustomStringConvertible {
  /// What the operating system said.
  public let error: SystemError
  /// The number behind ``error``, on this system.
  public let number: Int32

  package init(_ errno: Errno) {
    error = SystemError(errno: errno.number)
    number = errno.number
  }

  public var description: String {
    let mend =
      error == .tooManyOpenFiles
      ? "a loop needs three descriptors: close some, or raise the limit (ulimit -n)"
      : "a loop needs one thread and three descriptors"
    return "no event loop could be made (\(error), errno \(number)); \(mend)"
  }
}
