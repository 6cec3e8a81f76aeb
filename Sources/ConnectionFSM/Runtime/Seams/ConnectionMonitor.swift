/// Hears everything that a connection does (F56): for logs, metrics and recordings.
///
/// Called on the connection's loop, in order, after the effects of a step; so it must be quick. No
/// payload and no credentials reach it: records hold ids, counts and causes.
public protocol ConnectionMonitor: AnyObject, Sendable {
  /// The connection begins with this machine, which nothing has happened to yet.
  func connection(startsWith machine: Machine)

  /// A step was made, which left the machine like this.
  func connection(made record: TraceRecord, leaving machine: Machine)

  /// The error behind the failure of a link, right before its step: which certificate was refused
  /// and why, which byte broke the framing. Not every failure has one.
  func connection(linkOf epoch: Epoch, failedWith error: any Error)
}

extension ConnectionMonitor {
  public func connection(startsWith machine: Machine) {}
  public func connection(made record: TraceRecord, leaving machine: Machine) {}
  public func connection(linkOf epoch: Epoch, failedWith error: any Error) {}
}
