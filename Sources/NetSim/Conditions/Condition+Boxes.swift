import ConnectionFSM

// Boxes on the way that forget connections on which nothing passes.

extension Condition {
  static let ofBoxes: [Condition] = [
    behind(
      .rfc5382NAT, "nat-rfc5382",
      "An address translator forgets a connection silently after 2 h 4 min without a packet"),
    behind(
      .awsNLB, "nlb-350-rst",
      "A load balancer forgets a connection after 350 s and answers its next packet with a reset"),
    behind(
      .awsALB, "alb-60-fin",
      "A load balancer ends a connection with a FIN after 60 s without a packet"),
    behind(
      .azureLB, "azure-4min-silent",
      "A load balancer forgets a connection silently after 4 min without a packet"),
    behind(
      IdleReaper(
        "exact", idle: .seconds(60), sweep: .zero, aftermath: .finish,
        source: "Mattermost issues 8929 and 8930: balancer and ping both at 60 s"),
      "ping-equals-idle-60",
      "A load balancer ends a connection after exactly 60 s: whoever pings every 60 s races it"),
  ]

  private static func behind(
    _ reaper: IdleReaper, _ name: String, _ about: String
  ) -> Condition {
    // Three times: to be caught by it, to come back, and to be caught again.
    let duration = TimeSpan.nanoseconds(reaper.idle.nanoseconds * 3)
    return Condition(name, about, source: reaper.source, lasts: duration) { stage in
      stage.internet.addReaper(reaper, to: stage.server)
    }
  }
}
