import ConnectionFSM
import Foundation
import Testing
import Transports
import mqtt_example

/// Mosquitto, a broker not of our making, on a socket of the file system.
private final class Mosquitto {
  private let folder: URL
  private var process: Process?

  /// Why there is no broker. A test without it fails; it is never skipped.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "mqtt-example-\(UInt64.random(in: 0 ... .max))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    var lines = ["listener 0 \(socket)", "allow_anonymous true"]
    // As root it would become a user who may not write there.
    if getuid() == 0 { lines.append("user root") }
    try lines.map { $0 + "\n" }.joined().write(to: configuration, atomically: true, encoding: .utf8)
  }

  deinit {
    kill()
    try? FileManager.default.removeItem(at: folder)
  }

  private var configuration: URL { folder.appendingPathComponent("conf") }
  private var socket: String { folder.appendingPathComponent("s").path }

  var endpoint: Endpoint { Endpoint(unixSocket: socket) }

  func start() throws {
    let places = ["/usr/sbin", "/usr/bin", "/usr/local/sbin", "/opt/homebrew/sbin"]
    let programs = places.map { "\($0)/mosquitto" }
    guard let program = programs.first(where: FileManager.default.isExecutableFile) else {
      throw Failure(description: "there is no mosquitto: install it")
    }
    try? FileManager.default.removeItem(atPath: socket)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = ["-c", configuration.path]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    self.process = process
  }

  /// Ends it without a word to anybody.
  func kill() {
    guard let process else { return }
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    self.process = nil
  }
}

@Suite("The MQTT example and Mosquitto", .serialized)
struct MosquittoTests {
  private static func client(
    _ name: String, filters: [String], on loop: SocketEventLoop
  ) throws -> MQTTClient {
    let options = try MQTTOptions(clientID: name, filters: filters, keepAlive: 60)
    return try MQTTClient(
      StreamTransport(TCPDialer(loop: loop)) { MQTTEngine(options) }, seed: 1)
  }

  /// Waits for a state.
  private static func open(_ client: MQTTClient) async {
    for await state in client.connection.states() where state.phase == .open { return }
  }

  @Test("publish, subscribe and acknowledge, over a kill -9 of the broker", .timeLimit(.minutes(2)))
  func talk() async throws {
    let broker = try Mosquitto()
    try broker.start()
    let loop = try SocketEventLoop()
    defer { loop.stop() }
    let speaker = try Self.client("speaker", filters: [], on: loop)
    let listener = try Self.client("listener", filters: ["room/+/value"], on: loop)
    var heard = listener.publications().makeAsyncIterator()
    for client in [speaker, listener] {
      client.connection.connect(to: broker.endpoint)
      await Self.open(client)
    }
    for (number, acknowledged) in [(1, true), (2, false), (3, true)] {
      let publication = try MQTTPublication("room/\(number)/value", "text \(number)")
      let outcome = try await speaker.publish(publication, acknowledged: acknowledged)
      #expect(outcome == (acknowledged ? .acknowledged : .written))
      let arrived = try await heard.next()
      #expect(arrived == publication)
    }
    var states = listener.connection.states().makeAsyncIterator()
    broker.kill()
    while let state = await states.next(), state.phase == .open {}
    let late = try MQTTPublication("room/4/value", "said while there was no broker")
    async let outcome = speaker.publish(late, acknowledged: true)
    try broker.start()
    await Self.open(listener)
    #expect(try await outcome == .acknowledged)
    // Whichever of the two was there first: nothing that comes later is lost.
    let last = try MQTTPublication("room/5/value", Array(repeating: 7, count: 100_000))
    #expect(try await speaker.publish(last, acknowledged: true) == .acknowledged)
    var arrived = try await heard.next()
    if arrived == late { arrived = try await heard.next() }
    #expect(arrived == last)
    await speaker.connection.close()
    await listener.connection.close()
  }

  @Test("Mosquitto keeps a retained message for who subscribes later", .timeLimit(.minutes(2)))
  func retained() async throws {
    let broker = try Mosquitto()
    try broker.start()
    let loop = try SocketEventLoop()
    defer { loop.stop() }
    let speaker = try Self.client("speaker", filters: [], on: loop)
    speaker.connection.connect(to: broker.endpoint)
    let sent = try MQTTPublication("kept", Array("value".utf8), isRetained: true)
    #expect(try await speaker.publish(sent, acknowledged: true) == .acknowledged)
    let listener = try Self.client("listener", filters: ["#"], on: loop)
    var heard = listener.publications().makeAsyncIterator()
    listener.connection.connect(to: broker.endpoint)
    let arrived = try await heard.next()
    #expect(arrived == sent)
    await speaker.connection.close()
    await listener.connection.close()
  }
}
