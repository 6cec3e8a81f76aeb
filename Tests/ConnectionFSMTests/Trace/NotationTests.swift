import ConnectionFSM
import Testing

@Suite("The notation of inputs, read back")
struct NotationTests {
  @Test("every input with every detail is read back as it was")
  func everyInput() throws {
    for input in AnyInput.all {
      #expect(try Input(notation: input.description) == input, "\(input)")
    }
    #expect(AnyInput.all.count > 300)
    // Different inputs have different texts.
    #expect(Set(AnyInput.all.map(\.description)).count == Set(AnyInput.all).count)
  }

  @Test("there is one of each kind among them")
  func eachKind() {
    #expect(Set(AnyInput.all.map(kind)) == Set(0...14))
    #expect(Set(AnyInput.transportEvents.map(kind) + [6, 7]) == Set(0...10))
  }

  @Test("inputs with numbers of any size are read back as they were")
  func anyNumbers() throws {
    var random = SplitMix64(seed: 1)
    for _ in 1...20_000 {
      let input = AnyInput.drawn(&random)
      #expect(try Input(notation: input.description) == input, "\(input)")
    }
  }

  @Test("a count of no endpoints means one and is read as one")
  func noEndpoints() throws {
    let none = Input.connect(here, count: 0)
    #expect(try Input(notation: none.description) == .connect(here, count: 1))
  }

  @Test("a damaged text is refused, or is the text of what it is read as")
  func damaged() throws {
    var random = SplitMix64(seed: 2)
    let alphabet = Array("#@:,() 0123456789aBnosuif-+\u{E9}")
    var refused = 0
    for _ in 1...20_000 {
      var text = Array(AnyInput.drawn(&random).description)
      let place = Int(random.next(through: UInt64(text.count - 1)))
      let letter = alphabet[Int(random.next(through: UInt64(alphabet.count - 1)))]
      switch random.next(through: 3) {
      case 0: text.remove(at: place)
      case 1: text.insert(letter, at: place)
      case 2: text[place] = letter
      default: text.removeSubrange(place...)
      }
      let damaged = String(text)
      do throws(NotationError) {
        let input = try Input(notation: damaged)
        #expect(input.description == damaged)
      } catch {
        #expect(error.text == damaged)
        #expect(!error.problem.isEmpty)
        refused += 1
      }
    }
    #expect(refused > 10_000)
  }

  @Test(
    "what is wrong with a text is named, and what would do",
    arguments: [
      ("", "no input begins with “”"),
      ("conect @0", "no input begins with “conect”"),
      ("connect 0", "must have “ @” before “ 0”"),
      ("connect @4294967296", "the endpoint must be a whole number from 0 to 4294967295"),
      ("connect @0 of 1", "the count must be a whole number from 2 to 255, not “1”"),
      ("connect @00", "the endpoint must be a whole number"),
      ("close ", "“ ” is too much"),
      ("demand maybe", "must have “ off” before “ maybe”"),
      ("offer 0 3", "must have “B” before “”"),
      ("cancel 4:1", "the lane must be a whole number from 0 to 3, not “4:1”"),
      ("path sideways", "unknown path status “sideways”; known are unknown, up, down"),
      ("path up if0", "the interface must be a whole number from 1 to 65535, not “0”"),
      ("#1", "must have “ ” before “”"),
      ("#1 openned", "no event of a transport begins with “openned”"),
      ("#1 failed sytem(timedOut)", "unknown cause “sytem”; known are closedByUser"),
      ("#1 failed system", "must have “(” before “”"),
      ("#1 failed tls(old)", "unknown TLS failure “old”; known are untrusted, expired"),
      ("#1 failed http(503, retry after 5s)", "must have “ s)” before “s)”"),
      ("#1 session refused nobody", "unknown refusal “nobody”; known are denied"),
      ("#1 credentials lost", "unknown answer “lost”; known are available"),
    ])
  func problems(text: String, problem: String) {
    let error = #expect(throws: NotationError.self) { try Input(notation: text) }
    #expect(error?.text == text)
    #expect(error?.problem.contains(problem) == true, "\(error?.problem ?? "")")
  }
}

// Numbers for the kinds, by switches without a default: a kind that is new wants a number here, and
// a sample among all.

private func kind(_ input: Input) -> Int {
  switch input {
  case .connect: 0
  case .close: 1
  case .drain: 2
  case .offer: 3
  case .cancel: 4
  case .resized: 5
  case .demandChanged: 6
  case .lifecycleChanged: 7
  case .pathChanged: 8
  case .policyReplaced: 9
  case .deadlineReached: 10
  case .credentials: 11
  case .transport: 12
  case .session(_, .ready), .session(_, .resumed): 13
  case .session(_, .resumeRefused), .session(_, .refused): 14
  }
}

private func kind(_ event: TransportEvent) -> Int {
  switch event {
  case .opened: 0
  case .failed: 1
  case .closed: 2
  case .received: 3
  case .pong: 4
  case .writabilityChanged: 5
  case .written: 6
  case .acknowledged: 7
  case .viabilityChanged: 8
  case .drainRequested: 9
  case .betterPathAvailable: 10
  }
}
