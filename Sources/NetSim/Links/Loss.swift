/// How packets are lost on a link, one way.
///
/// A connection never misses a byte for it: TCP sends again what was lost, and the loss is felt as
/// a stall and a burst behind it.
public enum Loss: Equatable, Sendable {
  /// Never.
  case none
  /// Each by itself, so many in ten thousand: 200 is 2 %.
  case independent(perTenThousand: Int)
  /// In bursts: a stretch of so many packets on average gets through, then one of so many on
  /// average is lost (Gilbert and Elliott; the model of netem and str0m). At least 1 each.
  case bursts(meanGood: Int, meanBad: Int)
}

/// The losses of one direction of a link.
struct LossState: Sendable {
  private let loss: Loss
  private var isInBurst = false
  private var stream: RandomStream

  init(_ loss: Loss, stream: RandomStream) {
    self.loss = loss
    self.stream = stream
  }

  /// Whether the next packet is lost.
  mutating func losesNext() -> Bool {
    switch loss {
    case .none: return false
    case .independent(let share): return stream.hits(perTenThousand: share)
    case .bursts(let meanGood, let meanBad):
      // The chance to leave a state that lasts n packets on average is 1/n.
      let mean = max(1, isInBurst ? meanBad : meanGood)
      if stream.next(through: UInt64(mean) - 1) == 0 { isInBurst.toggle() }
      return isInBurst
    }
  }
}
