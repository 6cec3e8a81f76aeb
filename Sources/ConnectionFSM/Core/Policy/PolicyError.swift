/// A policy that cannot work, with the knob at fault and what to do about it.
public struct PolicyError: Error, Sendable {
  /// The knob, as it is spelled in ``Policy``.
  public let knob: StaticString
  /// What is wrong with it and which values would do.
  public let mend: StaticString

  package init(_ knob: StaticString, _ mend: StaticString) {
    self.knob = knob
    self.mend = mend
  }
}

#if !hasFeature(Embedded)
  extension PolicyError: CustomStringConvertible {
    public var description: String { "policy: \(knob): \(mend)" }
  }
#endif
