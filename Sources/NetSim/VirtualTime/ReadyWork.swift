/// A job or a piece of work that is ready, and on which loop.
struct ReadyWork {
  enum Kind {
    case job(UnownedJob)
    /// A job of the main actor.
    case mainJob(UnownedJob)
    case closure(() -> Void)
  }

  let kind: Kind
  let loop: SimulatedEventLoop

  init(_ kind: Kind, on loop: SimulatedEventLoop) {
    self.kind = kind
    self.loop = loop
  }
}
