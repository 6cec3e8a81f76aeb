import ConnectionFSM
import NetSim
import Testing

@Suite struct ProgramWalkTests {
  @Test("what TCP can mend is mended: all that was written is read, and then the end")
  func mendable() {
    for seed in UInt64(1)...150 {
      var walk = ProgramWalk(seed: seed, weather: .mendable)
      for _ in 0..<200 { walk.step() }
      walk.heal()
      walk.finishAll()
      for program in walk.programs where program.isOpen && !program.isLetGo {
        guard walk.peer(of: program) != nil else { continue }
        #expect(program.end == .end, "seed \(seed), \(program)")
      }
    }
  }

  @Test("whatever happens, bytes are a prefix, ends are true, and nothing is left in the end")
  func anything() {
    for seed in UInt64(1)...200 {
      var walk = ProgramWalk(seed: seed, weather: .any)
      for _ in 0..<200 { walk.step() }
      walk.closeAll()
      if seed % 2 == 0 { walk.heal() }
      // Some are accepted only now. The last box looks after an hour.
      for _ in 0..<5 {
        walk.pass(.seconds(1000))
        walk.closeAll()
      }
      walk.pass(.seconds(1000))
      #expect(walk.internet.liveSockets == 0, "seed \(seed)")
      #expect(walk.internet.liveConnections == 0, "seed \(seed)")
      #expect(walk.internet.nextInstant == nil, "seed \(seed)")
    }
  }

  @Test("the same seed gives the same log, also from a copy half way on")
  func replay() {
    var lines = 0
    for seed in UInt64(1)...50 {
      var first = ProgramWalk(seed: seed, weather: .any)
      for _ in 0..<100 { first.step() }
      var copy = first
      for _ in 0..<100 { first.step() }
      var second = ProgramWalk(seed: seed, weather: .any)
      for _ in 0..<200 { second.step() }
      for _ in 0..<100 { copy.step() }
      #expect(first.log == second.log)
      #expect(first.log == copy.log)
      lines += first.log.count
    }
    #expect(lines > 1000)
  }
}
