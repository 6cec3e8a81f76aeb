import Foundation
import ConnectionFSM
import NetSim
let scenario = try JSONDecoder().decode(Scenario.self, from: Data(contentsOf: URL(fileURLWithPath: CommandLine.arguments[1])))
var sim = try Simulation(scenario, seed: scenario.seed)
let text = TraceText(colour: false)
print(text.head)
do { try sim.run { switch $0 { case .step(let r): print(text.line(r)); case .note(let i, let t): print(text.note(t, at: i)) } }; print("ok") } catch { print("\(scenario.name): \(error)") }
