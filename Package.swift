// swift-tools-version:6.2
import PackageDescription

let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

// The privacy manifest says something to Apple's tools alone; elsewhere it would be a bundle that
// nobody reads.
#if canImport(Darwin)
  let (privacyManifest, leftOut): ([Resource], [String]) = ([.copy("PrivacyInfo.xcprivacy")], [])
#else
  let (privacyManifest, leftOut): ([Resource], [String]) = ([], ["PrivacyInfo.xcprivacy"])
#endif

let package = Package(
  name: "connection-fsm",
  platforms: [.macOS(.v15), .iOS(.v18)],
  products: [
    .library(name: "ConnectionFSM", targets: ["ConnectionFSM"]),
    .library(name: "NetSim", targets: ["NetSim"]),
    .library(name: "Transports", targets: ["Transports"]),
    .executable(name: "fsm-demo", targets: ["fsm-demo"]),
  ],
  targets: [
    .target(name: "ConnectionFSM", swiftSettings: strict),
    .target(name: "NetSim", dependencies: ["ConnectionFSM"], swiftSettings: strict),
    .systemLibrary(name: "CEventLoop", path: "Sources/CEventLoop"),
    .systemLibrary(
      name: "COpenSSL", path: "Sources/COpenSSL", pkgConfig: "openssl",
      providers: [.apt(["libssl-dev"])]),
    .systemLibrary(
      name: "CZlib", path: "Sources/CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .target(
      name: "Transports",
      dependencies: [
        "ConnectionFSM", "CEventLoop", "CZlib",
        .target(name: "COpenSSL", condition: .when(platforms: [.linux])),
      ], exclude: leftOut, resources: privacyManifest, swiftSettings: strict),
    .executableTarget(
      name: "fsm-demo", dependencies: ["ConnectionFSM", "NetSim", "Transports"],
      swiftSettings: strict),
    .executableTarget(
      name: "transition-bench", dependencies: ["ConnectionFSM"],
      path: "Benchmarks/TransitionBench", swiftSettings: strict),
    .executableTarget(
      name: "fleet-bench", dependencies: ["ConnectionFSM", "NetSim"],
      path: "Benchmarks/FleetBench", swiftSettings: strict),
    .executableTarget(
      name: "echo-bench", dependencies: ["ConnectionFSM", "Transports", "CEventLoop"],
      path: "Benchmarks/EchoBench", swiftSettings: strict),
    .executableTarget(
      name: "crowd-bench", dependencies: ["ConnectionFSM", "Transports"],
      path: "Benchmarks/CrowdBench", swiftSettings: strict),
    .executableTarget(
      name: "websocket-bench", dependencies: ["ConnectionFSM", "Transports"],
      path: "Benchmarks/WebSocketBench/Client", swiftSettings: strict),
    .executableTarget(
      name: "autobahn-client", dependencies: ["ConnectionFSM", "Transports"],
      path: "Conformance/AutobahnClient", swiftSettings: strict),
    .executableTarget(
      name: "outbox-crash", dependencies: ["ConnectionFSM", "Transports"],
      path: "Conformance/OutboxCrash", swiftSettings: strict),
    .executableTarget(
      name: "chat-example", dependencies: ["ConnectionFSM", "Transports"],
      path: "Examples/Chat", swiftSettings: strict),
    .executableTarget(
      name: "ticker-example", dependencies: ["ConnectionFSM", "Transports"],
      path: "Examples/Ticker", swiftSettings: strict),
    .executableTarget(
      name: "sleeper-example", dependencies: ["ConnectionFSM", "Transports"],
      path: "Examples/Sleeper", swiftSettings: strict),
    .executableTarget(
      name: "mqtt-example", dependencies: ["ConnectionFSM", "Transports"],
      path: "Examples/MQTT", swiftSettings: strict),
    .testTarget(
      name: "ConnectionFSMTests", dependencies: ["ConnectionFSM"], swiftSettings: strict),
    // Of Transports, what needs no socket and no stream: framings, handshakes, frames, compression.
    .testTarget(
      name: "ProtocolTests",
      dependencies: ["ConnectionFSM", "NetSim", "Transports", "WireSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "TransportsTests",
      dependencies: ["ConnectionFSM", "NetSim", "Transports", "WireSupport", "outbox-crash"],
      resources: [.copy("Fixtures")],
      swiftSettings: strict),
    // Frames made by hand, and engines driven by hand, for both.
    .target(
      name: "WireSupport", dependencies: ["ConnectionFSM", "NetSim", "Transports"],
      path: "Tests/WireSupport", swiftSettings: strict),
    .testTarget(
      name: "SimulationTests", dependencies: ["ConnectionFSM", "NetSim"],
      resources: [.copy("Fixtures")], swiftSettings: strict),
    .testTarget(
      name: "StreamSimulationTests",
      dependencies: ["fsm-demo", "ConnectionFSM", "NetSim", "Transports"],
      resources: [.copy("Fixtures")], swiftSettings: strict),
    .testTarget(
      name: "DemoTests", dependencies: ["fsm-demo", "ConnectionFSM", "NetSim"],
      swiftSettings: strict),
    // The code of the articles, which has what every user of the package has and no more.
    .testTarget(
      name: "ArticleTests", dependencies: ["ConnectionFSM", "NetSim", "Transports"],
      packageAccess: false, swiftSettings: strict),
    .testTarget(
      name: "ExampleTests",
      dependencies: [
        "chat-example", "ticker-example", "sleeper-example", "mqtt-example", "ConnectionFSM",
        "NetSim", "Transports",
      ], swiftSettings: strict),
    .testTarget(name: "TidyTests", swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
