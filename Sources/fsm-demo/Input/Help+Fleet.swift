extension Help {
  static let fleet = """
    Usage: fsm-demo fleet [--clients N] [--policy NAME]… [--outage WORDS] [--server WORDS]
                          [--connect-deadline T] [--limit T] [--seeds A..B] [--jobs N]
                          [--csv FILE] [--json FILE] [--html FILE]
           fsm-demo fleet --advise [--policy NAME] [the fleet and server as above]

    Clients lose their server and come back to it in virtual time, each of them the machine that
    ships: what the server sees, and when they are back, policy by policy.

      --clients N           how many (default 10000); about 500 bytes each, once a thread
      --policy NAME         default; a known client: xt, doubling, grpc, signalR, phoenix, socketIO,
                            nats, actionCable, centrifuge, awsStandard; or a JSON file that holds a
                            policy. May be given several times (default: five of them)
      --outage WORDS        restart:5s   all links are lost, dials are refused so long (default)
                            silence:5s   all links are lost, dials vanish so long
                            drain:60s    links are closed one by one, in so long
                            zone:17%     that share is lost, the server goes on to serve
      --server WORDS        rate=500 handshakes a second, backlog=4096 in line, shed=N answers 503
                            beyond N in line, with retry-after=30 seconds, latency=25ms one way;
                            as in rate=2000,backlog=128
      --connect-deadline T  when a client gives up a dial (default: as the policy says)
      --limit T             when a run ends if some client is not back (default 10min)
      --seeds A..B          a run for each; the table has means, and standard deviations below
      --jobs N              threads (default: one a core); the result is the same whatever N
      --csv, --json FILE    every figure of every run; the JSON has the series, too
      --html FILE           one page with charts, of the first seed
      --advise              tries hundreds of policies: first wait, base, cap, jitter, spacing and
                            connect deadline; prints those that none beats in both recovery and
                            peak load, ready to paste

    In the table: dials, of a client; refused, the server was down; dropped, the line was full or
    the server silent; wasted, served after the client had given up; peak, the most dials in 100 ms;
    50 % … all, the seconds until so many were back; goodput, the share of handshakes that gave a
    client its link; radio/h, wake-ups of a client's radio in an hour.

      swift run -c release fsm-demo fleet
      swift run -c release fsm-demo fleet --clients 100000 --server rate=5000 --html report.html
      swift run -c release fsm-demo fleet --advise --server rate=2000,backlog=128

    Exit status: 64 such a fleet cannot be; 65 a file is no policy; 66 it cannot be read; 74 one
    cannot be written.
    """
}
