#if canImport(Darwin)
  import Darwin

  /// Waits for sockets, for one timer, and for a wake-up: all three are kqueue's.
  ///
  /// Confined to the loop's thread, except ``wake()``. Not yet verified on Apple platforms.
  final class Poller {
    static let wakeToken: UInt64 = 0
    static let timerToken: UInt64 = 1

    private let queue: Int32
    private var isOpen = true
    private var events: UnsafeMutableBufferPointer<kevent>

    init() throws(LoopError) {
      do throws(Errno) {
        let queue = Descriptor(try System.check { kqueue() })
        try System.check { fcntl(queue.raw, F_SETFD, FD_CLOEXEC) }
        try Self.control(
          queue.raw, ident: UInt(Self.wakeToken), EVFILT_USER, EV_ADD | EV_CLEAR,
          token: Self.wakeToken)
        self.queue = queue.release()
      } catch {
        throw LoopError(error)
      }
      events = .allocate(capacity: 64)
    }

    deinit {
      close()
      events.deallocate()
    }

    /// Closes the queue; nothing else may be called afterwards.
    func close() {
      guard isOpen else { return }
      isOpen = false
      System.close(queue)
    }

    /// Ends the present or the next ``wait(blocking:sockets:)``. From any thread, while the poller
    /// is open.
    func wake() {
      // Fails only for an event that was never added.
      try? Self.control(
        queue, ident: UInt(Self.wakeToken), EVFILT_USER, 0, fflags: UInt32(NOTE_TRIGGER),
        token: Self.wakeToken)
    }

    /// Raises the timer at this time of ``System/continuousTime()``, at once if it has passed.
    func setTimer(at nanoseconds: Int64) {
      let delay = max(0, nanoseconds - System.continuousTime())
      // An interval that goes on while the system sleeps; adding it again replaces the earlier one.
      // Fails only for lack of memory, and kqueue keeps what the first one needs.
      try? Self.control(
        queue, ident: UInt(Self.timerToken), EVFILT_TIMER, EV_ADD | EV_ONESHOT,
        fflags: UInt32(NOTE_NSECONDS) | UInt32(NOTE_MACH_CONTINUOUS_TIME), data: Int(delay),
        token: Self.timerToken)
    }

    /// Waits for events, at most two a token; returns how many there are.
    /// - Parameter sockets: How many are registered; there is room for the events of all, so that
    ///   one wait gives everything that is ready.
    func wait(blocking: Bool, sockets: Int) -> Int {
      if 2 * sockets + 2 > events.count {
        let capacity = max(2 * sockets + 2, 2 * events.count)
        events.deallocate()
        events = .allocate(capacity: capacity)
      }
      var zero = timespec(tv_sec: 0, tv_nsec: 0)
      let count =
        blocking
        ? kevent(queue, nil, 0, events.baseAddress, Int32(events.count), nil)
        : kevent(queue, nil, 0, events.baseAddress, Int32(events.count), &zero)
      if count >= 0 { return Int(count) }
      // A signal arrived; the loop simply goes round.
      precondition(errno == EINTR, "kevent failed with errno \(errno)")
      return 0
    }

    /// An event of the last wait.
    func event(_ index: Int) -> (token: UInt64, ready: Interest) {
      let event = events[index]
      let token = UInt64(UInt(bitPattern: event.udata))
      switch Int32(event.filter) {
      case EVFILT_READ: return (token, .read)
      case EVFILT_WRITE: return (token, .write)
      default: return (token, [])
      }
    }

    /// Changes what a descriptor waits for.
    func change(
      _ descriptor: Int32, from old: Interest, to new: Interest, token: UInt64
    ) throws(Errno) {
      for (interest, filter) in [(Interest.read, EVFILT_READ), (.write, EVFILT_WRITE)]
      where old.contains(interest) != new.contains(interest) {
        try Self.control(
          queue, ident: UInt(descriptor), filter,
          new.contains(interest) ? EV_ADD : EV_DELETE, token: token)
      }
    }

    private static func control(
      _ queue: Int32, ident: UInt, _ filter: Int32, _ flags: Int32, fflags: UInt32 = 0,
      data: Int = 0, token: UInt64
    ) throws(Errno) {
      var change = kevent(
        ident: ident, filter: Int16(filter), flags: UInt16(flags), fflags: fflags, data: data,
        udata: UnsafeMutableRawPointer(bitPattern: UInt(token)))
      try System.check { kevent(queue, &change, 1, nil, 0, nil) }
    }
  }
#endif
