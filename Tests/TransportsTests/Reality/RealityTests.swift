import ConnectionFSM
import Foundation
import NetSim
import Testing
import Transports

extension RealSockets {
  /// F59: what NetSim says a program would see is what the kernel lets it see.
  @Suite("Reality: the same bytes in simulation and over loopback")
  struct RealityTests {
    @Test("F59: the programs on both sides see the same", arguments: ByteStory.all)
    func sameEvents(story: ByteStory) async throws {
      try await compare(story)
    }

    @Test(
      "F16: an unknown name is told as such",
      .enabled(if: Resolution.ofUnknownName == .failed(.resolution(.unknownName))))
    func unknownName() async throws { try await compare(.unknownName) }

    @Test(
      "a dial without a descriptor fails at once", .enabled(if: Descriptors.canBeExhausted))
    func noDescriptors() async throws { try await compare(.noDescriptors) }

    @Test(
      "F59: a connection over a line framing comes to the same: phases, dials, causes, outcomes",
      arguments: TalkStory.all)
    func sameTalk(story: TalkStory) async throws {
      let real = try await LoopbackWorld.play(story.scene) { world in
        [try TalkClient(world, story)]
      }
      #expect(real == story.scene.expected, "the kernel: \(real)")
      let simulated = try SimulatedWorld.play(story.scene, byScript: false) { world in
        [try TalkClient(world, story)]
      }
      #expect(simulated == story.scene.expected, "the simulator: \(simulated)")
    }

    @Test("Docs/Reality.md lists what is compared, and what came of it")
    func table() throws {
      let page = URL(fileURLWithPath: #filePath + "/../../../../Docs/Reality.md").standardized
      let lines = try String(contentsOf: page, encoding: .utf8).split(separator: "\n")
      let stories = ByteStory.all + [.unknownName, .noDescriptors]
      #expect(
        lines.filter { $0.hasPrefix("| ") }.dropFirst(2).map(String.init) == stories.map(\.line))
      #expect(Set(stories.flatMap(\.kinds)).count >= 15)
    }

    private func compare(_ story: ByteStory) async throws {
      let real = try await LoopbackWorld.play(story)
      #expect(real == story.expected, "the kernel: \(real)")
      let simulated = try SimulatedWorld.play(story, byScript: false)
      #expect(simulated == story.expected, "the simulator: \(simulated)")
      guard story.script != nil else { return }
      let scripted = try SimulatedWorld.play(story, byScript: true)
      #expect(scripted.clients == story.seen, "the simulator's script: \(scripted)")
    }
  }
}

extension Resolution {
  fileprivate static var ofUnknownName: Resolution {
    Resolution(host: "no-such-host.invalid", port: 80, numeric: false)
  }
}
