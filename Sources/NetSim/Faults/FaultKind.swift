/// The faults of a client's life, as ``Internet`` can show them. Each has a test of its own.
///
/// The raw value is its number in the catalogue, from 1.
public enum FaultKind: Int, CaseIterable, Sendable {
  // Dialling.
  case connectRefused = 1
  case blackHole, unreachable, acceptQueueOverflow, zombieServer, slowHandshake
  case unknownName, resolverTimeout, slowResolver, staleName, brokenVersion6
  case tlsFailure, handshakeCut, upgradeRefused
  // Ends of a connection, loud and silent.
  case reset, finish, writeAfterFinish, silentHalfOpen, idleExpiry, oneWayPartition,
    partitionAndHeal
  // The way.
  case latency, latencySpikes, radioWakeUp, bandwidth, zeroWindow, partialWrite, chunkedReads
  case corruption, duplicateAndReorder
  // The device.
  case networkSwitch, pathFlapping, lyingPath, captivePortal, deviceSleep, doze
  case wallClockStep, clockSkew
  // Servers, many clients, and what is left.
  case serverRestart, rollingDrain, zoneLoss, idleTimeoutRace, proxyChange, resourceLimits
  case dataLoss

  /// Its number in the catalogue, 1 to 45.
  public var number: Int { rawValue }
  /// What it is called, as in `silent-half-open`.
  public var name: String { facts.name }
  /// What the client sees.
  public var about: String { facts.about }
  /// How it is brought about.
  public var means: String { facts.means }
  /// Where its numbers were read.
  public var source: String { facts.source }

  /// Why the simulator cannot show it; nil if it can.
  public var isLeftOut: String? {
    switch self {
    case .wallClockStep:
      "There is no wall clock in the simulation, and neither the machine nor the runtime reads one."
    default: nil
    }
  }

  struct Facts {
    let name, about, means, source: String

    init(_ name: String, _ about: String, means: String, source: String) {
      self.name = name
      self.about = about
      self.means = means
      self.source = source
    }
  }

  private var facts: Facts { Self.facts[rawValue - 1] }
}
