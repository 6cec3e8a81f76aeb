import ConnectionFSM
import Foundation
import Transports

/// Runs all cases of an Autobahn fuzzing server: answers each message with itself, of its kind.
/// Tells its progress on the error output, and prints how many cases there are.
@main
struct AutobahnClient {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    guard arguments.count == 2, let server = arguments.first, let agent = arguments.last else {
      tell("usage: autobahn-client ws://HOST:PORT AGENT")
      exit(2)
    }
    let loop = try SocketEventLoop()
    func run(_ resource: String, isEcho: Bool = true) async throws -> Session {
      let session = try Session(WebSocketURL(server + resource), loop, isEcho: isEcho)
      await session.run()
      return session
    }

    let counting = try await run("/getCaseCount", isEcho: false)
    guard let count = counting.texts.first.flatMap({ Int($0) }), count > 0 else {
      tell("the server does not say how many cases it has: \(counting.end)")
      exit(1)
    }
    for number in 1...count {
      let session = try await run("/runCase?case=\(number)&agent=\(agent)")
      if !session.isOpened { tell("case \(number) of \(count) has not opened: \(session.end)") }
      if number.isMultiple(of: 50) { tell("\(number) of \(count) cases") }
    }
    let reporting = try await run("/updateReports?agent=\(agent)", isEcho: false)
    guard reporting.isOpened else {
      tell("the server writes no reports: \(reporting.end)")
      exit(1)
    }
    loop.stop()
    print(count)
  }

  private static func tell(_ text: String) {
    FileHandle.standardError.write(Data("autobahn-client: \(text)\n".utf8))
  }
}
