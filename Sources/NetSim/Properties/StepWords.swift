/// The steps that stories are drawn from, by the words that scenarios have for them.
enum StepWords {
  /// Of a bare machine.
  static let machine = [
    "api.connect", "api.reconnectNow", "api.close", "api.drain", "api.send", "api.replace",
    "api.cancel", "api.demand", "cb.connecting", "cb.open", "cb.closed", "dev.sleep", "dev.wake",
    "dev.foreground", "dev.background", "dev.suspend", "dev.timer", "auth.token", "net.open",
    "net.connect_hang", "net.dns_fail", "net.dns_timeout", "net.http", "net.refuse",
    "net.session", "net.error", "net.rst", "net.fin", "net.server_close", "net.silent_drop",
    "net.msg", "net.pong", "net.ack", "net.blocked", "net.unblocked", "net.viability",
    "net.drain", "net.better_path", "net.path_unknown", "net.path_up", "net.path_down",
    "net.path_change", "net.server_up", "net.server_down", "net.down", "net.hosts",
    "net.latency", "net.loss", "net.heal",
  ]

  /// Of a connection over bytes; what bytes fare on is there from the beginning.
  static let connection = [
    "api.connect", "api.close", "api.send", "api.cancel", "api.demand", "cb.connecting",
    "cb.open", "cb.closed", "dev.sleep", "dev.freeze", "dev.wake", "dev.background",
    "dev.foreground", "dev.suspend", "net.path_down", "net.path_up", "net.path_change",
    "net.server_down", "net.server_up", "net.server_mute", "net.server_finish",
    "net.server_cut", "net.rst", "net.fin", "net.crash", "net.restart",
    "net.silent_drop", "net.cut", "net.down", "net.block", "net.unblock", "net.deaf", "net.heard",
    "net.local_fail", "net.local_ok", "net.dns_fail", "net.dns_timeout", "net.dns_slow",
    "net.dns_moved", "net.dns_ok", "net.heal",
  ]
}
