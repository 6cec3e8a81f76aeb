import Synchronization

/// Where the links of a loop read to: one after the other, so one buffer serves them all.
///
/// Sendable only in that it is found from anywhere; its bytes are touched on its loop alone.
package final class ReadBuffer: @unchecked Sendable {
  // 256 KiB: a read takes all that a busy link has, and an idle link owns no buffer. Nor
  // does an idle transport: of ten thousand of them each would keep at least a page.
  let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
  private let loop: ObjectIdentifier

  private struct Known: Sendable {
    weak var buffer: ReadBuffer?
  }

  private static let known = Mutex<[ObjectIdentifier: Known]>([:])

  private init(_ loop: ObjectIdentifier) { self.loop = loop }

  deinit {
    bytes.deallocate()
    let successor = Self.known.withLock { known in
      let successor = known[loop]?.buffer
      if successor == nil { known[loop] = nil }
      return successor
    }
    // Let go of outside of the lock, which its own deinit takes.
    withExtendedLifetime(successor) {}
  }

  /// The one of that loop, which must live as long as it.
  package static func shared(on loop: any EventLoop) -> ReadBuffer {
    let loop = ObjectIdentifier(loop)
    return known.withLock { known in
      if let buffer = known[loop]?.buffer { return buffer }
      let buffer = ReadBuffer(loop)
      known[loop] = Known(buffer: buffer)
      return buffer
    }
  }
}
