import ConnectionFSM

// Boxes whose figures are published. The rows of the same tables for UDP (AWS NLB 120 s, RFC 4787
// 2 to 5 min, home gateways 30 s, carrier NATs) do not concern connections of bytes.

extension IdleReaper {
  /// The network load balancer of AWS: after 350 s (60 to 6,000 can be set) whoever sends next is
  /// reset.
  public static let awsNLB = IdleReaper(
    "aws-nlb", idle: .seconds(350), aftermath: .resetOnNextPacket,
    source: "AWS blog, Introducing NLB TCP configurable idle timeout")
  /// The application load balancer of AWS: after 60 s (1 to 4,000 can be set) both ends get a FIN.
  public static let awsALB = IdleReaper(
    "aws-alb", idle: .seconds(60), aftermath: .finish,
    source: "AWS documentation, config-idle-timeout")
  /// The load balancer of Azure: silence after 4 min (to 100 can be set), unless resets are
  /// switched on.
  public static let azureLB = IdleReaper(
    "azure-lb", idle: .seconds(240), aftermath: .silence,
    source: "Microsoft Learn, load-balancer-tcp-idle-timeout and load-balancer-tcp-reset")
  /// nginx in front of a server of WebSockets: `proxy_read_timeout`.
  public static let nginx = IdleReaper(
    "nginx", idle: .seconds(60), aftermath: .finish, source: "nginx.org, WebSocket proxying")
  /// Envoy: the idle time-out of a connection.
  public static let envoy = IdleReaper(
    "envoy", idle: .seconds(3600), aftermath: .finish, source: "envoyproxy.io, FAQ, timeouts")
  /// The time-out of a backend service of Google Cloud. For WebSockets it is the life, whatever
  /// passes: there, let ``Fault/closeAll(_:port:lastWords:within:)`` befall instead.
  public static let gcpBackend = IdleReaper(
    "gcp-backend", idle: .seconds(30), aftermath: .finish, source: "gcpdiag.dev, lb/BP/2025_002")
  /// The firewall of Google Compute Engine.
  public static let gceFirewall = IdleReaper(
    "gce-firewall", idle: .seconds(600), aftermath: .silence, source: "gRFC A8")
  /// Cloudflare's proxy, for WebSockets.
  public static let cloudflareWebSocket = IdleReaper(
    "cloudflare-websocket", idle: .seconds(100), aftermath: .finish,
    source: "community.cloudflare.com, topic 5865")
  /// The load balancer of Oracle's cloud, for HTTP.
  public static let ociHTTP = IdleReaper(
    "oci-http", idle: .seconds(65), aftermath: .finish, source: "OCI documentation")
  /// The load balancer of Oracle's cloud, for TCP.
  public static let ociTCP = IdleReaper(
    "oci-tcp", idle: .seconds(300), aftermath: .finish, source: "OCI documentation")
  /// An address translator that keeps established connections as briefly as it may: 2 h 4 min.
  public static let rfc5382NAT = IdleReaper(
    "rfc5382-nat", idle: .seconds(7440), aftermath: .silence, source: "RFC 5382, REQ-5")
  /// A firewall of Palo Alto Networks.
  public static let paloAlto = IdleReaper(
    "palo-alto", idle: .seconds(3600), aftermath: .silence,
    source: "docs.paloaltonetworks.com, session timeouts")

  /// All of these, the hastiest first.
  public static let all: [IdleReaper] = [
    gcpBackend, awsALB, nginx, ociHTTP, cloudflareWebSocket, azureLB, ociTCP, awsNLB, gceFirewall,
    envoy, paloAlto, rfc5382NAT,
  ]
}
