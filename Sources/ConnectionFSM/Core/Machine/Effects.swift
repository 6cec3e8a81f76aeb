/// The effects of one transition: up to 32, in order, stored inline and reused.
///
/// The driver owns one and passes it to every ``Machine/handle(_:at:into:)``, which empties it
/// first. The most that can happen is about twenty: one late wake closes the old link, pings, ends
/// messages of four lanes in two ways each, lets go of the standby with what flies on it, sends
/// what waits, and tells of the pressure. Not an `InlineArray`, which needs Apple's 26 releases.
public struct Effects: Sendable {
  /// How many effects one transition may have.
  public static let capacity = 32

  /// How many there are.
  public private(set) var count = 0

  private var storage: Storage

  private typealias Storage = (
    Effect, Effect, Effect, Effect, Effect, Effect, Effect, Effect,
    Effect, Effect, Effect, Effect, Effect, Effect, Effect, Effect,
    Effect, Effect, Effect, Effect, Effect, Effect, Effect, Effect,
    Effect, Effect, Effect, Effect, Effect, Effect, Effect, Effect
  )

  /// Makes an empty buffer.
  public init() {
    let unused = Effect.abortTransport(Epoch(0))
    storage = (
      unused, unused, unused, unused, unused, unused, unused, unused,
      unused, unused, unused, unused, unused, unused, unused, unused,
      unused, unused, unused, unused, unused, unused, unused, unused,
      unused, unused, unused, unused, unused, unused, unused, unused
    )
  }
}

extension Effects: RandomAccessCollection {
  public var startIndex: Int { 0 }
  public var endIndex: Int { count }

  /// The effect at a place below ``count``.
  public subscript(place: Int) -> Effect {
    precondition(place >= 0 && place < count, "effect index out of range")
    // Nearly always the only one. To take the address of the others copies all 32.
    if place == 0 { return storage.0 }
    return withUnsafeBytes(of: storage) { $0.bindMemory(to: Effect.self)[place] }
  }
}

extension Effects {
  mutating func append(_ effect: Effect) {
    precondition(count < Self.capacity, "a transition had more than 32 effects")
    withUnsafeMutableBytes(of: &storage) { bytes in
      bytes.bindMemory(to: Effect.self)[count] = effect
    }
    count += 1
  }

  mutating func removeAll() { count = 0 }
}

extension Effects: Equatable {
  public static func == (left: Effects, right: Effects) -> Bool { left.elementsEqual(right) }
}
