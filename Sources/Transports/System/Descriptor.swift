/// Owns a file descriptor: closed exactly once, when its owner goes or lets it go to another one.
struct Descriptor: ~Copyable {
  /// The number, valid as long as this value lives.
  let raw: Int32

  init(_ raw: Int32) { self.raw = raw }

  deinit { System.close(raw) }

  /// Hands the number to another owner, who closes it.
  consuming func release() -> Int32 {
    let raw = raw
    discard self
    return raw
  }
}
