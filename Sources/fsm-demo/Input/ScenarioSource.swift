import NetSim

/// Where a scenario comes from: a file, or one of the built-in ones.
enum ScenarioSource {
  case file(String)
  case builtIn(String)

  /// Takes `--scenario NAME`, or an operand; to be asked after the other options.
  init(_ arguments: inout ArgumentList) throws(Failure) {
    let name = try arguments.value(of: "--scenario")
    switch (name, arguments.operand()) {
    case (let name?, nil): self = .builtIn(name)
    case (nil, let path?): self = .file(path)
    case (nil, nil): throw arguments.usage("name a scenario file, or --scenario NAME")
    case (_?, _?): throw arguments.usage("give a file or --scenario, not both")
    }
  }

  /// The path, or the name.
  var name: String {
    switch self {
    case .file(let path): path
    case .builtIn(let name): name
    }
  }

  func scenario() throws(Failure) -> Scenario {
    switch self {
    case .file(let path): try ScenarioFile.read(path)
    case .builtIn(let name): try ScenarioFile.builtIn(name)
    }
  }
}
