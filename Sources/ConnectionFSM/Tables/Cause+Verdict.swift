// The tables, row by row: pure, total, without a `default` over our own enums.

extension Cause {
  /// What follows from the cause: total and pure, each cause has exactly one row (I7, I15).
  public func verdict(in circumstances: Circumstances = Circumstances()) -> Verdict {
    row(in: circumstances).under(circumstances.path)
  }

  /// The class of the verdict on a dial that failed while the path was up.
  public var failureClass: FailureClass { verdict().failureClass }

  private func row(in circumstances: Circumstances) -> Verdict {
    switch self {
    case .closedByUser: .terminal
    case .replaced: .transient
    case .suspended: .transient
    case .pathChanged: .transient.now
    case .localAddressLost: .network
    case .pathLost: .network
    case .closedByPeer(nil): .transient
    case .closedByPeer(let code?): code.verdict
    case .timedOut: .transient
    case .system(let error): error.row(in: circumstances)
    case .resolution(let error): error.row(in: circumstances)
    case .tls(let failure): failure.verdict
    // A captive portal answers in the server's place; what it says of the path, a monitor sees
    // late.
    case .http(200...299, _): circumstances.isPathConstrained ? .network.capped(1) : .terminal
    case .http(let status, let retryAfter): Self.http(status, retryAfter: retryAfter)
    case .loading(let error): error.row(in: circumstances)
    case .unsupportedEndpoint: .terminal
    // A codec error, a garbled answer, a handshake that does not add up.
    case .protocolError: .terminal.capped(1)
    case .truncated: .transient
    case .slowConsumer: .transient.capped(3)
    case .sessionRefused(.denied): .terminal
    case .sessionRefused(.credentials): .terminal.refreshing
    case .sessionRefused(.unavailable): .transient
    case .credentialsRefused: .terminal
    case .credentialsUnavailable: .transient
    }
  }
}

// MARK: 8.1 Close codes

extension CloseCode {
  /// The verdict on a link that the peer ended with this code (RFC 6455 section
  /// 7.4). Codes that may not appear on the wire are terminal, those that only stand for an absent
  /// one excepted.
  public var verdict: Verdict {
    switch rawValue {
    case 0...999: .terminal
    case 1000: .transient
    // The first delay random from 0 to 5 s is the backoff's own default.
    case 1001: .transient
    case 1002: .terminal.capped(1)
    case 1003: .terminal
    case 1004: .terminal
    case 1005: .transient
    case 1006: .transient
    case 1007: .terminal.capped(1)
    case 1008: .terminal.refreshing
    case 1009: .transient.capped(2)
    case 1010: .terminal
    case 1011: .transient.capped(5)
    case 1012: .transient.after(.seconds(5), spread: .seconds(25))
    case 1013: .transient.slow.elsewhere
    case 1014: .transient
    // A transport that knows what was wrong with TLS says so with `Cause.tls`.
    case 1015: .terminal
    case 1016...2999: .terminal
    case 3000: .terminal.refreshing
    case 3003: .terminal
    case 3008: .transient
    case 3001...3999: .transient.capped(5)
    case 4000...4999: .transient.capped(5)
    case _: .terminal
    }
  }
}

// MARK: 8.2 The operating system, 8.3 the resolver

extension SystemError {
  /// The class, of a dial that failed while the path was up.
  public var failureClass: FailureClass { Cause.system(self).failureClass }

  fileprivate func row(in circumstances: Circumstances) -> Verdict {
    switch self {
    case .connectionRefused: .transient
    case .timedOut: .transient
    case .hostUnreachable, .hostDown: .transient
    case .networkUnreachable: .network
    case .networkDown: .network
    case .networkReset: .transient
    case .connectionReset: circumstances.reach == .stable ? .transient.now : .transient
    case .connectionAborted: .transient.now
    case .brokenPipe: .transient
    case .notConnected: circumstances.reach == .notOpen ? .transient : .transient.now
    case .addressNotAvailable: .transient.slow
    case .addressInUse: .transient.capped(3)
    case .tooManyOpenFiles: .transient.slow
    case .noBufferSpace: .transient.slow
    case .accessDenied: .terminal
    case .addressFamilyNotSupported: .terminal
    // EBADF just after the device awoke: the system took the socket away (TN2277).
    case .internalFault: circumstances.isInDoubt ? .transient.now : .terminal
    case .protocolFailure: .transient.capped(2)
    // I15: what no table knows is transient with a bounded budget.
    case .other: .transient.capped(10)
    }
  }
}

extension ResolutionError {
  /// The class, of a dial that failed while the path was up.
  public var failureClass: FailureClass { Cause.resolution(self).failureClass }

  fileprivate func row(in circumstances: Circumstances) -> Verdict {
    switch self {
    case .temporaryFailure: .transient
    // A device that is offline often says so; only a path that is up makes it the name's fault.
    case .unknownName: circumstances.path == .up ? .transient.capped(3) : .network
    case .permanentFailure: .transient.capped(3)
    case .outOfMemory: .transient.slow
    case .misconfigured: .terminal
    }
  }
}

// MARK: 8.4 Answers to an upgrade

extension Cause {
  private static func http(_ status: UInt16, retryAfter: UInt16?) -> Verdict {
    switch status {
    // No status line: RFC 9110 section 15 has three digits, the first from 1 to 5.
    case 0...99: .terminal.capped(1)
    // 101 that does not add up, or interim answers without end.
    case 100...199: .terminal.capped(1)
    // A transport follows redirections itself; one that is reported was not to be followed.
    case 300...399: .terminal
    case 401, 407: .terminal.refreshing
    case 408, 425: .transient
    case 421: .transient.capped(1)
    case 429: retryAfter == nil ? .transient.slow : .transient.after(seconds: retryAfter)
    case 400...499: .terminal
    case 501, 505, 506, 510: .terminal
    case 502, 504: .transient
    case 503: .transient.after(seconds: retryAfter)
    case 511: .network
    case 500...599: .transient.capped(10)
    case _: .terminal.capped(1)
    }
  }
}

// MARK: 8.5 Other domains

extension TLSFailure {
  /// The verdict.
  public var verdict: Verdict {
    switch self {
    case .untrusted, .expired, .hostMismatch, .pinMismatch, .noCommonVersion: .terminal
    case .certificateRequired: .terminal
    case .reset, .closed: .transient
    case .internalError: .transient
    }
  }
}

extension LoadingError {
  fileprivate func row(in circumstances: Circumstances) -> Verdict {
    switch self {
    case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff: .network
    case .timedOut, .cannotConnectToHost, .networkConnectionLost, .secureConnectionFailed:
      .transient
    case .cannotFindHost, .dnsLookupFailed: ResolutionError.unknownName.row(in: circumstances)
    // The transport reports the answer's status; without one the answer was garbled.
    case .badServerResponse: .terminal.capped(1)
    case .unsupportedURL, .badURL, .appTransportSecurityRequiresSecureConnection: .terminal
    case .serverCertificateHasBadDate, .serverCertificateUntrusted,
      .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
      .clientCertificateRequired:
      .terminal
    case .other: .transient.capped(10)
    }
  }
}
