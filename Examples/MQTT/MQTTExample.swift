// An MQTT 3.1.1 client on a connection, and a small broker to try it with:
//
//   swift run mqtt-example serve
//   swift run mqtt-example listen 'home/+/temperature'
//   swift run mqtt-example publish home/kitchen/temperature 21.5
//
// Any broker will do; name it last, as in `mqtt-example listen '#' tcp://test.example.com:1883`.

import ConnectionFSM
import Transports

@main
enum MQTTExample {
  static func main() async throws {
    let words = Array(CommandLine.arguments.dropFirst())
    switch (words.first, words.count) {
    case ("serve", 1...2):
      let loop = try SocketEventLoop()
      let endpoint = try endpoint(words, 1)
      try await withTaskExecutorPreference(loop) { try await serve(at: endpoint, on: loop) }
    case ("listen", 2...3): try await listen(to: words[1], at: endpoint(words, 2))
    case ("publish", 3...4): try await publish(words[2], to: words[1], at: endpoint(words, 3))
    default:
      print("usage: mqtt-example serve | listen FILTER | publish TOPIC TEXT  [tcp://HOST:PORT]")
    }
  }

  private static func endpoint(_ words: [String], _ place: Int) throws(EndpointError) -> Endpoint {
    try Endpoint(words.count > place ? words[place] : "tcp://127.0.0.1:1883")
  }

  private static func client(_ filters: [String], _ broker: Endpoint) throws -> MQTTClient {
    let options = try MQTTOptions(
      clientID: "example-\(UInt32.random(in: 0 ... .max))", filters: filters)
    return try MQTTClient(.stream("\(broker)", MQTTEngine(options)))
  }

  private static func listen(to filter: String, at broker: Endpoint) async throws {
    let client = try client([filter], broker)
    let publications = client.publications()
    let watching = Task {
      for await state in client.connection.states() { print("[\(state.phase)]") }
    }
    defer { watching.cancel() }
    client.connection.connect()
    for try await publication in publications {
      print("\(publication.topic): \(publication.text)")
    }
  }

  private static func publish(
    _ text: String, to topic: String, at broker: Endpoint
  ) async throws {
    let client = try client([], broker)
    client.connection.connect()
    let outcome = try await client.publish(MQTTPublication(topic, text), acknowledged: true)
    print("\(outcome)")
    await client.connection.close()
  }

  /// Everything of a server happens on its loop, in a function that prefers it.
  private static func serve(at endpoint: Endpoint, on loop: SocketEventLoop) async throws {
    let server = Server(
      loop: loop, engine: { MQTTBrokerEngine() }, program: MQTTBroker { print($0) })
    let port = try server.start(host: endpoint.host, port: endpoint.port)
    print("the broker is at tcp://\(endpoint.host):\(port); end it with Ctrl-C")
    try await Task.sleep(for: .seconds(1_000_000_000))
    server.kill()
  }
}
