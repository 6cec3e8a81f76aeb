// The simple values of a snapshot. Times are whole nanoseconds, exact to the last one, other than
// the seconds of a policy, which people write.

protocol PlainFactValue: FactValue, Codable where Raw == Self {}

extension PlainFactValue {
  var raw: Self { self }
  init(raw: Self) { self = raw }
}

extension Bool: PlainFactValue {}
extension UInt8: PlainFactValue {}
extension UInt32: PlainFactValue {}
extension UInt64: PlainFactValue {}

extension Instant: FactValue {
  var raw: Int64 { nanoseconds }
  init(raw: Int64) { self.init(nanoseconds: raw) }
}

extension TimeSpan: FactValue {
  var raw: Int64 { nanoseconds }

  init(raw: Int64) throws {
    guard raw >= 0 else { throw FactProblem(text: "must not be negative") }
    self.init(nanoseconds: raw)
  }
}

extension Epoch: FactValue {
  var raw: UInt64 { rawValue }

  init(raw: UInt64) throws {
    guard raw < 1 << 62 else { throw FactProblem(text: "must be below 2⁶²") }
    self.init(raw)
  }
}

extension EndpointID: FactValue {
  var raw: UInt32 { rawValue }
  init(raw: UInt32) { self.init(raw) }
}

extension SplitMix64: FactValue {
  var raw: UInt64 { state }
  init(raw: UInt64) { self.init(seed: raw) }
}

extension Machine.RoundTrip: FactValue {
  var raw: UInt32 { smoothed }
  init(raw: UInt32) { self.init(smoothed: raw) }
}

// In the notation of traces.

extension Path: FactValue {
  var raw: String { description }
  init(raw: String) throws {
    do throws(NotationError) { try self.init(notation: raw) } catch {
      throw FactProblem(text: error.description)
    }
  }
}

extension Cause: FactValue {
  var raw: String { description }
  init(raw: String) throws {
    do throws(NotationError) { try self.init(notation: raw) } catch {
      throw FactProblem(text: error.description)
    }
  }
}

// Cases by their names.

protocol NamedFactValue: FactValue, CaseIterable where Raw == String {}

extension NamedFactValue {
  var raw: String { "\(self)" }

  init(raw: String) throws {
    guard let value = Self.allCases.first(where: { "\($0)" == raw }) else {
      let known = Self.allCases.map { "\($0)" }.joined(separator: ", ")
      throw FactProblem(text: "unknown value “\(raw)”; known are \(known)")
    }
    self = value
  }
}

extension Lifecycle: NamedFactValue {}
extension Machine.Link.Stage: NamedFactValue {}
extension Machine.Link.Question: NamedFactValue {}
extension Machine.Link.Ending: NamedFactValue {}
extension Machine.BackingOff.Tier: NamedFactValue {}
extension Machine.Suspended.Hold: NamedFactValue {}
extension Machine.Closed.Reason: NamedFactValue {}

extension Array: FactValue where Element: FactList {
  var raw: [Element] { self }
  init(raw: [Element]) { self = raw }
}
