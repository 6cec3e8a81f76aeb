import ConnectionFSM

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The system's two clocks of the standard library, which on a simulation's thread show its virtual
/// time; every other thread sees the real one.
///
/// Without this a sleep of one second would reach the simulation as a little less than one: the
/// library reads its clock, adds the second, and asks for a wake-up at that instant, and how much
/// of it has passed by then is no two times the same. So the library's one call of `clock_gettime`
/// is led through here, by its own table of imported functions (ELF's procedure linkage table).
enum SystemClocks {
  /// Whether it could be done: on Linux, with the concurrency library as a shared object.
  static let areVirtual: Bool = {
    #if os(Linux)
      // Called once, so that the loader has filled the entry and does not write to it again.
      _ = SuspendingClock.now
      guard let entry = importedClock() else { return false }
      entry.pointee = gettime
      return true
    #else
      return false
    #endif
  }()

  #if os(Linux)
    private typealias GetTime =
      @convention(c) (clockid_t, UnsafeMutablePointer<timespec>?) -> CInt

    private static let gettime: GetTime = { clock, result in
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

    /// Where the concurrency library keeps the address of `clock_gettime`.
    private static func importedClock() -> UnsafeMutablePointer<GetTime>? {
      guard let library = dlopen("libswift_Concurrency.so", RTLD_LAZY | RTLD_NOLOAD),
        let image = LoadedImage(library),
        let entry = image.importedFunction("clock_gettime")
      else { return nil }
      // The entry may lie where the loader has taken the right to write away (RELRO).
      let page = UInt(sysconf(CInt(_SC_PAGESIZE)))
      let start = UnsafeMutableRawPointer(bitPattern: UInt(bitPattern: entry) & ~(page - 1))
      guard mprotect(start, Int(page), PROT_READ | PROT_WRITE) == 0 else { return nil }
      return entry.assumingMemoryBound(to: GetTime.self)
    }
  #endif
}

#if os(Linux)
  /// A shared object as the loader knows it; 64-bit ELF with relocations that name their addend, as
  /// on x86-64 and arm64.
  private struct LoadedImage {
    private let base: UInt
    private var symbols: UInt = 0
    private var names: UInt = 0
    private var relocations: UInt = 0
    private var relocationBytes: UInt = 0

    init?(_ library: UnsafeMutableRawPointer) {
      typealias Info =
        @convention(c) (UnsafeMutableRawPointer, CInt, UnsafeMutableRawPointer) -> CInt
      let wantsLinkMap: CInt = 2  // RTLD_DI_LINKMAP, behind _GNU_SOURCE
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
    private func pointer(_ value: UInt) -> UnsafeRawPointer? {
      UnsafeRawPointer(bitPattern: value < base ? value + base : value)
    }

    func importedFunction(_ name: String) -> UnsafeMutableRawPointer? {
      guard let relocations = pointer(relocations)?.assumingMemoryBound(to: Elf64_Rela.self),
        let symbols = pointer(symbols)?.assumingMemoryBound(to: Elf64_Sym.self),
        let names = pointer(names)?.assumingMemoryBound(to: CChar.self)
      else { return nil }
      let count = Int(relocationBytes) / MemoryLayout<Elf64_Rela>.stride
      for relocation in UnsafeBufferPointer(start: relocations, count: count) {
        let symbol = symbols[Int(relocation.r_info >> 32)]
        guard strcmp(names + Int(symbol.st_name), name) == 0 else { continue }
        return UnsafeMutableRawPointer(bitPattern: base + UInt(relocation.r_offset))
      }
      return nil
    }
  }
#endif
