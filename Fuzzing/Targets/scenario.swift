import ConnectionFSM
import Foundation
import NetSim

/// Reads a scenario file as the demo does, and the words of its steps; what is read is written and
/// read again as the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  let draw = Draw(start, count)
  guard let scenario = try? JSONDecoder().decode(Scenario.self, from: Data(draw.stream)) else {
    return 0
  }
  let encoder = JSONEncoder()
  encoder.outputFormatting = .sortedKeys
  guard let written = try? encoder.encode(scenario),
    let again = try? JSONDecoder().decode(Scenario.self, from: written)
  else { fatalError("what was read cannot be written and read") }
  require((try? encoder.encode(again)) == written, "read, written and read, it has changed")
  let isUnderstood = (try? Simulation(scenario, seed: 1)) != nil
  require(isUnderstood == ((try? Simulation(again, seed: 1)) != nil), "its words have changed")
  _ = try? StreamSimulation(scenario, seed: 1) { SimulatedProtocol() }
  return 0
}
