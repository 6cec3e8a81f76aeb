#if canImport(Glibc) || canImport(Musl)
  import CEventLoop
  #if canImport(Musl)
    import Musl
  #else
    import Glibc
  #endif

  /// Waits for sockets, for one timer, and for a wake-up: epoll, timerfd, eventfd.
  ///
  /// Confined to the loop's thread, except ``wake()``.
  final class Poller {
    static let wakeToken: UInt64 = 0
    static let timerToken: UInt64 = 1

    private let epoll: Int32
    private let wakeup: Int32
    private let timer: Int32
    private var isOpen = true
    private var events: UnsafeMutableBufferPointer<epoll_event>

    init() throws(LoopError) {
      do throws(Errno) {
        let epoll = Descriptor(try System.check { epoll_create1(cel_epoll_cloexec) })
        let wakeup = Descriptor(try System.check { eventfd(0, cel_eventfd_flags) })
        // The clock that counts the time asleep: a deadline that passed meanwhile is due on waking.
        let timer = Descriptor(
          try System.check { timerfd_create(CLOCK_BOOTTIME, cel_timerfd_flags) })
        // Edge-triggered, so that neither has ever to be read: a write to the eventfd and an expiry
        // of the timer are one event each.
        try Self.control(
          epoll.raw, EPOLL_CTL_ADD, wakeup.raw, cel_epoll_in | cel_epoll_edge, Self.wakeToken)
        try Self.control(
          epoll.raw, EPOLL_CTL_ADD, timer.raw, cel_epoll_in | cel_epoll_edge, Self.timerToken)
        self.epoll = epoll.release()
        self.wakeup = wakeup.release()
        self.timer = timer.release()
      } catch {
        throw LoopError(error)
      }
      events = .allocate(capacity: 64)
    }

    deinit {
      close()
      events.deallocate()
    }

    /// Closes the three descriptors; nothing else may be called afterwards.
    func close() {
      guard isOpen else { return }
      isOpen = false
      System.close(epoll)
      System.close(wakeup)
      System.close(timer)
    }

    /// Ends the present or the next ``wait(blocking:sockets:)``. From any thread, while the poller
    /// is open.
    func wake() {
      var one: UInt64 = 1
      // Fails only after 2^64 - 1 wake-ups, which take longer than the machine lasts.
      _ = System.call { write(wakeup, &one, MemoryLayout<UInt64>.size) }
    }

    /// Raises the timer at this time of ``System/continuousTime()``, at once if it has passed.
    func setTimer(at nanoseconds: Int64) {
      // An absolute time of 0 would disarm the timer, and a negative one is an error.
      let time = max(1, nanoseconds)
      var setting = itimerspec()
      setting.it_value.tv_sec = time_t(time / 1_000_000_000)
      setting.it_value.tv_nsec = Int(time % 1_000_000_000)
      timerfd_settime(timer, cel_timerfd_absolute, &setting, nil)
    }

    /// Waits for events, at most one a token; returns how many there are.
    /// - Parameter sockets: How many are registered; there is room for the events of all, so that
    ///   one wait gives everything that is ready.
    func wait(blocking: Bool, sockets: Int) -> Int {
      if sockets + 2 > events.count {
        let capacity = max(sockets + 2, 2 * events.count)
        events.deallocate()
        events = .allocate(capacity: capacity)
      }
      let count = epoll_wait(epoll, events.baseAddress, Int32(events.count), blocking ? -1 : 0)
      if count >= 0 { return Int(count) }
      // A signal arrived; the loop simply goes round.
      precondition(errno == EINTR, "epoll_wait failed with errno \(errno)")
      return 0
    }

    /// An event of the last wait.
    func event(_ index: Int) -> (token: UInt64, ready: Interest) {
      let event = events[index]
      var ready: Interest = []
      if event.events & (cel_epoll_in | cel_epoll_broken) != 0 { ready.insert(.read) }
      if event.events & (cel_epoll_out | cel_epoll_broken) != 0 { ready.insert(.write) }
      return (event.data.u64, ready)
    }

    /// Changes what a descriptor waits for. Without any interest it is unknown to epoll: a socket
    /// that is shut both ways reports EPOLLHUP whatever is asked for, and would spin the loop.
    func change(
      _ descriptor: Int32, from old: Interest, to new: Interest, token: UInt64
    ) throws(Errno) {
      guard old != new else { return }
      let operation =
        old.isEmpty ? EPOLL_CTL_ADD : new.isEmpty ? EPOLL_CTL_DEL : EPOLL_CTL_MOD
      var flags: UInt32 = 0
      if new.contains(.read) { flags |= cel_epoll_in }
      if new.contains(.write) { flags |= cel_epoll_out }
      try Self.control(epoll, operation, descriptor, flags, token)
    }

    private static func control(
      _ epoll: Int32, _ operation: Int32, _ descriptor: Int32, _ flags: UInt32, _ token: UInt64
    ) throws(Errno) {
      var event = epoll_event()
      event.events = flags
      event.data.u64 = token
      try System.check { epoll_ctl(epoll, operation, descriptor, &event) }
    }
  }
#endif
