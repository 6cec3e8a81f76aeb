extension Backoff {
  /// The waits of known clients, as published; a step is what is waited after n failures, n from 0.
  ///
  /// What differs for all of them: the clients reset their series on a bare open, here a link must
  /// have been open for the ``Backoff/stability`` (so an accept-then-drop server is not hammered);
  /// the waits are the least, since ``Policy/minimumDialSpacing`` holds as well; no limit given
  /// means that the client tries for ever.
  public enum Preset: UInt8, CaseIterable, BitwiseCopyable, Sendable {
    /// XTWebSocket: 0, 2, 4, 8, 16, 32, 60, 60 … s, no jitter.
    ///
    /// The article checks the cap before the doubling, so that its stored delay passes it; here
    /// none does (B0.7). Its clients return in step (B0.8), and so do these: set a jitter.
    case xt
    /// Swift WebSocketManager: 2, 4, 8, 16, 30, 30 … s, no jitter.
    ///
    /// The article forgets failures on a received message alone, so that a quiet hour leaves 30 s;
    /// here the time open counts (B4.7).
    case doubling
    /// gRPC: 1 s · 1.6ⁿ up to 120 s, ±20 % after the cap, the first exact (grpc-go
    /// `backoff/backoff.go`; grpc `doc/connection-backoff.md`).
    ///
    /// gRPC counts the wait from the start of the failed attempt, we from its end; it dials a lost
    /// ready link at once.
    case grpc
    /// SignalR: 0, 2, 10, 30 s, then no more; no jitter (aspnetcore `DefaultReconnectPolicy.ts`).
    ///
    /// Its first start is never retried and the four tries follow a lost link. Here the dial of the
    /// first start is one of the four.
    case signalR
    /// Phoenix: 10, 50, 100, 150, 200, 250, 500, 1000, 2000, then 5000 ms, no jitter (phoenix.js
    /// `assets/js/phoenix/socket.js`).
    ///
    /// With the default dial spacing of 1 s the waits below it become 1 s from dial to dial.
    case phoenix
    /// socket.io: 1 s · 2ⁿ up to 5 s, ±50 % (socket.io-client `manager.ts`, `backo2.ts`).
    ///
    /// There the cap comes after the jitter and swallows it: from the fifth wait on all clients
    /// wait 5 s exactly. Here the cap comes first, and such waits are 2.5 to 7.5 s.
    case socketIO
    /// NATS: 2 s and up to 100 ms more, 60 tries (nats.go, `nats.go`).
    ///
    /// There the wait follows a round through all servers and the tries count for each of them.
    /// With TLS it adds up to 1 s: then set the jitter to `.added(.seconds(1))`.
    case nats
    /// Rails Action Cable: 6 s · 1.15ⁿ for n up to 10, the first up to 100 % longer, the others up
    /// to 15 % (`connection_monitor.js`).
    ///
    /// There it is the interval of a poll, which runs while an attempt does, too.
    case actionCable
    /// centrifuge: 0.5 s and full jitter on 0.5 s · 2ⁿ on top, up to 20 s (centrifuge-swift
    /// `Client.swift`).
    ///
    /// There a sum above the cap becomes the cap; here the range ends at the cap, and the draw is
    /// random all through.
    case centrifuge
    /// AWS SDK, standard mode: full jitter on 1 s · 2ⁿ up to 20 s, 3 attempts (botocore
    /// `retries/standard.py`).
    ///
    /// Its quota of retries, shared by all requests of a client, is not part of a backoff.
    case awsStandard
  }

  /// Makes the backoff of a known client.
  public init(_ preset: Preset) {
    switch preset {
    case .xt: self = .exact(first: .zero, base: .seconds(1), cap: .seconds(60))
    case .doubling: self = .exact(first: .seconds(2), base: .seconds(2), cap: .seconds(30))
    case .grpc:
      self.init(
        strategy: .exponential(percent: 160), first: .seconds(1), base: .seconds(1),
        cap: .seconds(120), jitter: .within(percent: 20), firstJitter: Jitter.none)
    case .signalR:
      self = .table(milliseconds: [0, 2_000, 10_000, 30_000])
      attemptLimit = 4
    case .phoenix:
      self = .table(milliseconds: [10, 50, 100, 150, 200, 250, 500, 1_000, 2_000, 5_000])
    case .socketIO:
      self.init(
        strategy: .doubling, first: .seconds(1), base: .seconds(1), cap: .seconds(5),
        jitter: .within(percent: 50))
    case .nats:
      self.init(
        strategy: .constant, first: .seconds(2), base: .seconds(2), cap: .seconds(2),
        jitter: .added(.milliseconds(100)), attemptLimit: 60)
    case .actionCable:
      self.init(
        strategy: .exponential(percent: 115), first: .seconds(6), base: .seconds(6),
        // The step of n = 10.
        cap: .nanoseconds(24_273_346_418), jitter: .above(percent: 15),
        firstJitter: .above(percent: 100))
    case .centrifuge:
      let least = TimeSpan.milliseconds(500)
      self.init(
        strategy: .doubling, first: least, base: least, cap: .seconds(20), jitter: .fullOver(least))
    case .awsStandard:
      self.init(
        strategy: .doubling, first: .seconds(1), base: .seconds(1), cap: .seconds(20),
        jitter: .full, attemptLimit: 3)
    }
  }

  private static func exact(first: TimeSpan, base: TimeSpan, cap: TimeSpan) -> Backoff {
    Backoff(strategy: .doubling, first: first, base: base, cap: cap, jitter: .none)
  }

  /// The steps of a table without jitter; the cap is its last, longest one.
  private static func table(milliseconds: [Int64]) -> Backoff {
    let steps = milliseconds.map { TimeSpan.milliseconds($0) }
    return Backoff(strategy: .table(Table(steps)), cap: steps.last ?? .zero, jitter: .none)
  }
}
