/// What a registered socket waits for, and what it turned out to be ready for.
struct Interest: OptionSet {
  let rawValue: UInt8

  /// Bytes, the end, or an error can be read.
  static let read = Interest(rawValue: 1)
  /// There is room to write, or writing would tell of an error.
  static let write = Interest(rawValue: 2)
}

/// One socket's place on a loop: a slot and the generation that slot had then.
///
/// Events of the kernel carry this, never the bare descriptor: the number of a closed descriptor is
/// used again at once, and an event that is still under way must not reach its new owner.
struct Registration: Equatable, Sendable {
  let slot: UInt32
  /// From 1, so that no token is one of the poller's own.
  let generation: UInt32

  init(slot: UInt32, generation: UInt32) {
    self.slot = slot
    self.generation = generation
  }

  init(token: UInt64) {
    slot = UInt32(truncatingIfNeeded: token)
    generation = UInt32(token >> 32)
  }

  var token: UInt64 { UInt64(generation) << 32 | UInt64(slot) }
}

/// Whoever owns a socket that is registered with a loop. All calls come on the loop.
protocol DescriptorHandler: AnyObject {
  /// The socket is ready for at least one thing it was waiting for.
  func descriptorReady(_ registration: Registration, for ready: Interest)

  /// The loop ends and has closed the socket.
  func loopStopped()
}
