import ConnectionFSM

// Boxes on the way that forget connections on which nothing passes.

extension Condition {
  static let ofBoxes: [Condition] = [
    behind(
      IdleReaper(
        "nat-rfc5382", idle: .seconds(7440), aftermath: .silence,
        source: "RFC 5382 REQ-5: an established connection, 2 h 4 min at least"),
      "An address translator forgets a connection silently after 2 h 4 min without a packet"),
    behind(
      IdleReaper(
        "nlb-350-rst", idle: .seconds(350), aftermath: .resetOnNextPacket,
        source: "AWS Network Load Balancer, idle timeout of TCP: 350 s, then a reset"),
      "A load balancer forgets a connection after 350 s and answers its next packet with a reset"),
    behind(
      IdleReaper(
        "alb-60-fin", idle: .seconds(60), aftermath: .finish,
        source: "AWS Application and Classic Load Balancer, idle timeout: 60 s, then a FIN"),
      "A load balancer ends a connection with a FIN after 60 s without a packet"),
    behind(
      IdleReaper(
        "azure-4min-silent", idle: .seconds(240), aftermath: .silence,
        source: "Azure Load Balancer, idle timeout: 4 min, silent unless TCP reset is enabled"),
      "A load balancer forgets a connection silently after 4 min without a packet"),
    behind(
      IdleReaper(
        "ping-equals-idle-60", idle: .seconds(60), sweep: .zero, aftermath: .finish,
        source: "Mattermost issues 8929 and 8930: balancer and ping both at 60 s"),
      "A load balancer ends a connection after exactly 60 s: whoever pings every 60 s races it"),
  ]

  private static func behind(_ reaper: IdleReaper, _ about: String) -> Condition {
    // Three times: to be caught by it, to come back, and to be caught again.
    let duration = TimeSpan.nanoseconds(reaper.idle.nanoseconds * 3)
    return Condition(reaper.name, about, source: reaper.source, lasts: duration) { stage in
      stage.internet.addReaper(reaper, to: stage.server)
    }
  }
}
