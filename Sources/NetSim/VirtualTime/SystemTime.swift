import ConnectionFSM

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The standard library's clocks of the system, and sleeps on them, which on a simulation's thread
/// are virtual; every other thread has the real ones.
///
/// No interface of the runtime leads there: `ContinuousClock` reads the system's clock, and
/// `Task.sleep` gives a job and an instant to Dispatch. Both are calls from one shared object into
/// another, by way of a table of addresses that the loader fills in (ELF's procedure linkage
/// table); in the table of the concurrency library three addresses are replaced by ours.
enum SystemTime {
  /// Makes system time virtual on threads that run a simulation. On Linux, with the concurrency
  /// library as a shared object; elsewhere a task that sleeps on a system clock waits outside of
  /// the simulation, which is then stuck.
  static func install() {
    #if os(Linux)
      for entry in entries where entry.address.pointee != entry.replacement {
        entry.address.pointee = entry.replacement
      }
    #endif
  }

  #if os(Linux)
    private typealias GetTime =
      @convention(c) (clockid_t, UnsafeMutablePointer<timespec>?) -> CInt
    private typealias After =
      @convention(c) (UInt64, UnsafeRawPointer?, UnsafeMutableRawPointer?, UnsafeRawPointer?) ->
      Void
    private typealias MakeSource =
      @convention(c) (UnsafeRawPointer?, UInt, UInt, UnsafeRawPointer?) -> UnsafeRawPointer?

    private struct Entry: @unchecked Sendable {
      // Unchecked: the address is that of one aligned word, which is written as a whole.
      let address: UnsafeMutablePointer<UnsafeRawPointer?>
      let replacement: UnsafeRawPointer
    }

    private static let entries: [Entry] = {
      let library = dlopen("libswift_Concurrency.so", RTLD_LAZY | RTLD_NOLOAD)
      guard let table = library.flatMap(ImportTable.init), after != nil, makeSource != nil else {
        return []
      }
      let replacements: [(String, UnsafeRawPointer)] = [
        ("clock_gettime", unsafeBitCast(virtualGetTime, to: UnsafeRawPointer.self)),
        ("dispatch_after_f", unsafeBitCast(virtualAfter, to: UnsafeRawPointer.self)),
        ("dispatch_source_create", unsafeBitCast(refusingMakeSource, to: UnsafeRawPointer.self)),
      ]
      let entries = replacements.compactMap { name, replacement in
        table.entry(of: name).map { Entry(address: $0, replacement: replacement) }
      }
      // All or none: clocks that do not fit their sleeps would be worse than real ones.
      return entries.count == replacements.count ? entries : []
    }()

    private static let virtualGetTime: GetTime = { clock, result in
      guard let result else { return -1 }
      guard let time = CurrentSimulation.value,
        clock == CLOCK_BOOTTIME || clock == CLOCK_MONOTONIC
      else { return clock_gettime(clock, result) }
      let loop = time.presentLoop
      let now = clock == CLOCK_BOOTTIME ? loop.now : loop.suspendingNow
      let (seconds, rest) = now.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
      result.pointee = timespec(tv_sec: Int(seconds), tv_nsec: Int(rest))
      return 0
    }

    private static let after = Runtime.function("dispatch_after_f", as: After.self)
    private static let makeSource = Runtime.function("dispatch_source_create", as: MakeSource.self)

    /// A sleep: the context is a job. The instant's highest bit tells the continuous clock from the
    /// suspending one, and the rest is what that clock will show.
    private static let virtualAfter: After = { instant, queue, context, function in
      guard let time = CurrentSimulation.value, let context else {
        after?(instant, queue, context, function)
        return
      }
      let continuous: UInt64 = 1 << 63
      time.wake(
        unsafeBitCast(context, to: UnownedJob.self),
        at: Instant(nanoseconds: Int64(instant & ~continuous)),
        isSuspending: instant & continuous == 0)
    }

    /// A sleep with a tolerance is a timer of its own, too much to be led elsewhere: it fails the
    /// run.
    private static let refusingMakeSource: MakeSource = { type, handle, mask, queue in
      CurrentSimulation.value?.refuseSleep()
      return makeSource?(type, handle, mask, queue)
    }
  #endif
}

#if os(Linux)
  /// The addresses of functions that a shared object calls in others; 64-bit ELF with relocations
  /// that name their addend, as on x86-64 and arm64.
  private struct ImportTable {
    private let base: UInt
    private var symbols: UInt = 0
    private var names: UInt = 0
    private var relocations: UInt = 0
    private var relocationBytes: UInt = 0

    init?(_ library: UnsafeMutableRawPointer) {
      typealias Info =
        @convention(c) (UnsafeMutableRawPointer, CInt, UnsafeMutableRawPointer) -> CInt
      let wantsLinkMap: CInt = 2  // RTLD_DI_LINKMAP, which headers hide behind _GNU_SOURCE
      var found: UnsafeMutablePointer<link_map>?
      guard let info = Runtime.function("dlinfo", as: Info.self),
        info(library, wantsLinkMap, &found) == 0, let map = found?.pointee,
        var entry = map.l_ld
      else { return nil }
      base = UInt(map.l_addr)
      while entry.pointee.d_tag != DT_NULL {
        let value = UInt(entry.pointee.d_un.d_val)
        if entry.pointee.d_tag == DT_SYMTAB { symbols = value }
        if entry.pointee.d_tag == DT_STRTAB { names = value }
        if entry.pointee.d_tag == DT_JMPREL { relocations = value }
        if entry.pointee.d_tag == DT_PLTRELSZ { relocationBytes = value }
        entry += 1
      }
      guard symbols > 0, names > 0, relocations > 0 else { return nil }
    }

    /// Glibc's loader turns these into addresses, Musl's leaves them relative to the base.
    private func pointer<Element>(_ value: UInt, to _: Element.Type) -> UnsafePointer<Element>? {
      UnsafePointer(bitPattern: value < base ? value + base : value)
    }

    /// Where the address of that function stands, ready to be written.
    func entry(of name: String) -> UnsafeMutablePointer<UnsafeRawPointer?>? {
      guard let relocations = pointer(relocations, to: Elf64_Rela.self),
        let symbols = pointer(symbols, to: Elf64_Sym.self),
        let names = pointer(names, to: CChar.self)
      else { return nil }
      let count = Int(relocationBytes) / MemoryLayout<Elf64_Rela>.stride
      let relocation = UnsafeBufferPointer(start: relocations, count: count).first {
        strcmp(names + Int(symbols[Int($0.r_info >> 32)].st_name), name) == 0
      }
      guard let relocation else { return nil }
      let address = base + UInt(relocation.r_offset)
      // The loader may have taken the right to write away (RELRO).
      let page = UInt(sysconf(CInt(_SC_PAGESIZE)))
      let start = UnsafeMutableRawPointer(bitPattern: address & ~(page - 1))
      guard mprotect(start, Int(page), PROT_READ | PROT_WRITE) == 0 else { return nil }
      return UnsafeMutablePointer(bitPattern: address)
    }
  }
#endif
