/// The sockets of a loop. A registration owns its descriptor: to forget it and to close it is one
/// act, so that the kernel never hands out a number that the loop still knows.
struct RegistrationTable {
  private struct Entry {
    var generation: UInt32
    var descriptor: Int32
    var interest: Interest
    // Weak: a socket that its owner dropped must be able to close itself.
    weak var handler: (any DescriptorHandler)?
  }

  private var entries: [Entry] = []
  private var free: [UInt32] = []

  /// How many sockets are registered.
  var count: Int { entries.count - free.count }

  /// Registers, without any interest yet.
  mutating func add(
    _ descriptor: consuming Descriptor, _ handler: any DescriptorHandler
  ) -> Registration {
    let raw = descriptor.release()
    if let slot = free.popLast() {
      let generation = entries[Int(slot)].generation
      entries[Int(slot)] = Entry(
        generation: generation, descriptor: raw, interest: [], handler: handler)
      return Registration(slot: slot, generation: generation)
    }
    entries.append(Entry(generation: 1, descriptor: raw, interest: [], handler: handler))
    return Registration(slot: UInt32(entries.count - 1), generation: 1)
  }

  /// Who owns the socket; nil when the registration has ended, or its owner is gone.
  func handler(of registration: Registration) -> (any DescriptorHandler)? {
    isCurrent(registration) ? entries[Int(registration.slot)].handler : nil
  }

  /// The socket and what it waits for; nil when the registration has ended.
  func socket(of registration: Registration) -> (descriptor: Int32, interest: Interest)? {
    guard isCurrent(registration) else { return nil }
    let slot = Int(registration.slot)
    return (entries[slot].descriptor, entries[slot].interest)
  }

  /// Notes what a registered socket waits for.
  mutating func setInterest(_ interest: Interest, of registration: Registration) {
    entries[Int(registration.slot)].interest = interest
  }

  private func isCurrent(_ registration: Registration) -> Bool {
    let slot = Int(registration.slot)
    return slot < entries.count && entries[slot].generation == registration.generation
  }

  /// Ends a registration and gives its descriptor back.
  mutating func remove(_ registration: Registration) -> Descriptor? {
    guard let socket = socket(of: registration) else { return nil }
    // A generation that comes round to 0 would make a token of the poller's own.
    let generation = max(1, registration.generation &+ 1)
    entries[Int(registration.slot)] = Entry(
      generation: generation, descriptor: -1, interest: [], handler: nil)
    free.append(registration.slot)
    return Descriptor(socket.descriptor)
  }

  /// All that are registered.
  var registrations: [Registration] {
    entries.indices.compactMap { slot in
      entries[slot].descriptor < 0
        ? nil : Registration(slot: UInt32(slot), generation: entries[slot].generation)
    }
  }
}
