/// Keeps a connection's credentials between the provider and the links: who is being asked, what
/// the newest link was given, and what a server has refused. Confined to the loop.
struct CredentialsDesk {
  private let provider: CredentialsProvider
  // One: the machine asks for one attempt at a time.
  private var question: (epoch: Epoch, task: Task<Void, Never>)?
  /// What was answered and no link has taken yet.
  private var answer: Credentials?
  private var given: (epoch: Epoch, credentials: Credentials)?
  private var refused: Credentials?

  init(_ provider: CredentialsProvider) { self.provider = provider }

  /// The attempt for which the provider is being asked.
  var asks: Epoch? { question?.epoch }

  /// Asks for an attempt; `answered` is called on the loop, also long after the wait is over.
  mutating func ask(
    for epoch: Epoch, on loop: any EventLoop,
    answered: @escaping @Sendable (Result<Credentials?, any Error>) -> Void
  ) {
    let task = Task(executorPreference: loop) { [provider, refused] in
      let result: Result<Credentials?, any Error>
      do {
        result = .success(try await provider.provide(refused))
      } catch {
        result = .failure(error)
      }
      // Work of its own: nothing may come in between the parts of a transition.
      loop.execute { answered(result) }
    }
    question = (epoch, task)
  }

  /// The wait is over, whatever comes of the question.
  mutating func stopAsking() {
    question?.task.cancel()
    question = nil
  }

  /// Keeps an answer for the dial that it leads to, if it does.
  mutating func hold(_ credentials: Credentials?) { answer = credentials }

  /// Gives the answer to the link that is dialled. A token goes to one link alone.
  mutating func take(for epoch: Epoch) -> Credentials? {
    guard let credentials = answer.take() else { return nil }
    given = (epoch, credentials)
    refused = nil
    return credentials
  }

  /// What the link was given.
  func credentials(of epoch: Epoch) -> Credentials? {
    given?.epoch == epoch ? given?.credentials : nil
  }

  /// A link has ended, and whether over its credentials.
  mutating func ended(_ epoch: Epoch, wereRefused: Bool) {
    guard let given, given.epoch == epoch else { return }
    if wereRefused { refused = given.credentials }
    self.given = nil
  }
}
