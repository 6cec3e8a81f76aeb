import ConnectionFSM

struct FleetPage {
  let title: String
  let facts: [String]
  let command: String
  let columns: [String]
  let cells: [[String]]
  let rows: [FleetRow]
  let shaded: TimeSpan
  let bound: TimeSpan?
  var html: String { "" }
}
