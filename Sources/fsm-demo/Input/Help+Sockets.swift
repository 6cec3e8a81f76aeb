/// The pages of what runs on real sockets.
extension Help {
  static let serve = """
    Usage: fsm-demo serve ENDPOINT [OPTION...] [FAULT]

    Sends back what comes, or runs a chat, and logs connections and messages. HOST is a numeric
    address; port 0 takes any that is free and prints it. Ends with Ctrl-C.

      tcp://HOST:PORT    lines that end with LF, each sent back
      tls://HOST:PORT    the same over TLS, with a certificate made for this run
      unix:///PATH       the same over a socket in the file system
      line://HOST:PORT   lines that end with CRLF, each sent back but “longConnect”
      wg://HOST:PORT     JSON in frames with a 7-byte header, each sent back [--xor KEY] [--gzip]
      chat://HOST:PORT   iam:NAME and msg:TEXT lines [--bare: what a read brings is a line]
      raw://HOST:PORT    bytes, each sent back
      ws://HOST:PORT     messages of a WebSocket, each sent back, at every path; wss:// over TLS
        --protocol NAME       a subprotocol to choose if it is offered; may be given several times
        --compress            agree to compression (permessage-deflate)
        --header 'NAME: …'    a field of the handshake's answer, in place of its own: wrong, or
                              missing if there is nothing behind the colon; several times

      --tls              TLS for line, wg, chat and raw

    Faults, one at a time:
      --refuse           refuse every dial
      --accept-and-drop  accept every dial and drop it at once
      --mute             read and never answer: a dead peer that TCP does not notice
      --reset-after N    reset each connection at its message N
      --half-close       answer one message, then say no more (FIN) and go on reading
      --slow MS          answer each message so many milliseconds late
      --poison HEX       answer the first message with these bytes, as they are

    Faults of a WebSocket:
      --answer STATUS    answer every handshake with this HTTP status, 200 to 599
      --close CODE[:REASON]
                         close with this code, right after the handshake
      --fault NAME       one of these; frames come right after the handshake:
        masked, reserved, oversized, bad-text    frames that may not be
        split-text, bomb                         a character cut in two, which is legal; 64 KiB
                                                 that inflate to 64 MiB
        endless-message, ping-flood              frames without end
        slow-answer, endless-answer              an answer to the handshake that comes byte by byte,
                                                 or never ends
        silent-close, open-close, late-message   the client's close is not answered; is, and the
                                                 stream stays open; is, and more is said
      --at N             close, or send that frame, instead of message N

      fsm-demo serve tcp://127.0.0.1:7000
      fsm-demo serve chat://127.0.0.1:7000 --tls
      fsm-demo serve wg://127.0.0.1:7000 --poison 00000003
      fsm-demo serve ws://127.0.0.1:7000 --answer 503 --header 'Retry-After: 5'
      fsm-demo serve wss://127.0.0.1:7000 --close 4403:banned --at 2
    """

  static let connect = """
    Usage: fsm-demo connect ENDPOINT [OPTION...] [--seed N] [--format text|jsonl]

    Connects over a real socket, shows each step as it happens, sends standard input line by
    line, and says how each line ended.

      tcp://HOST:PORT  lines; the peer must send each back, which acknowledges it, as fsm-demo
      tls://HOST:PORT  serve does. What is typed without a connection waits and is sent in order.
      unix:///PATH     After 15 s of silence the line “ping” asks for a sign of life.
        --lane at-least-once   send again after a loss until it is acknowledged (default)
        --lane at-most-once    send once: written once the system took it, or in doubt
        --ping S               ask after so many seconds of silence instead
      line://HOST:PORT lines that end with CRLF; back at once when the server drops
        --heartbeat S          the line “longConnect” each so many seconds (default 30)
      wg://HOST:PORT   JSON objects or arrays, one a line, in frames with a 7-byte header
        --xor KEY, --gzip      what is done to them; --legacy: a peer that cannot read 64 KiB
      chat://HOST:PORT a chat
        --name NAME            who joins; --bare: a server that knows no delimiter
      ws://HOST/PATH   text messages of a WebSocket; wss:// over TLS. Nothing tells that one
                       arrived, so each is sent once: written once the system took it. After 15 s
                       of silence a ping asks for a sign of life.
        --protocol NAME        offer this subprotocol; several times, the preferred one first
        --compress             offer compression (permessage-deflate)
        --header 'NAME: VALUE' a field of the request, such as Authorization; several times
        --ping S               ask after so many seconds of silence instead
        --redirects N          follow up to N redirections, 0 to 20 (default 0)

      --tls                  TLS for line, wg and chat
      --ca FILE              trust these authorities (PEM) instead of the system's
      --pin sha256/BASE64    trust this public key; without --ca it alone decides
      --cert FILE            show this certificate; the file has its key as well (PEM)
      --server-name NAME     whom the certificate must be for, if not HOST
      --proxy URL            through http://, https:// or socks5://[USER:PASSWORD@]HOST[:PORT];
                             “env” reads HTTPS_PROXY, ALL_PROXY and NO_PROXY
      --seed N               what the waits are drawn from (default: drawn from the system)
      --format jsonl         standard output has the trace for programs, standard error the rest

    The end of the input closes once every line has its end, or after 5 s. Ctrl-C closes politely, a
    second one at once.

      fsm-demo connect tcp://127.0.0.1:7000
      seq 1 1000 | fsm-demo connect tcp://127.0.0.1:7000
      echo '{"name":"Veeco"}' | fsm-demo connect wg://127.0.0.1:7000 --gzip
      fsm-demo connect 'wss://feed.example.com/v1?topic=news' --compress --redirects 5

    Exit status: 0 every line arrived; 1 one did not for certain, or the connection closed for
    good; 130 interrupted twice.

    \(trace)
    """
}
