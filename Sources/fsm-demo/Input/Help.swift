import NetSim

/// The pages of `fsm-demo help`.
enum Help {
  static var tool: String {
    let commands = Tool.commands.map { "  \($0.name.padded(to: 11))\($0.summary)" }
    return """
      fsm-demo shows a connection that comes back: in virtual time, and on real sockets.

      Usage: fsm-demo [COMMAND] [OPTIONS]

      \(commands.joined(separator: "\n"))
        help       This page, or that of a command: fsm-demo help connect

      Begin with:
        fsm-demo                                     a whole life in 40 lines
        fsm-demo simulate --scenario dead-peer       one story
        fsm-demo serve tcp://127.0.0.1:7000          two terminals: serve, then connect,
        fsm-demo connect tcp://127.0.0.1:7000        type lines, kill and restart the server

      Colour is for terminals only, and NO_COLOR turns it off. --version prints the version.

      Exit status: 0 all went well; 1 a scenario did not go as it says, a trace does not replay,
      a connection is closed for good, or a message did not arrive for certain; 64 usage; 65 the
      file is no scenario or trace; 66 it cannot be read; 69 no socket could be had; 74 output
      cannot be written; 130 interrupted twice.
      """
  }

  static let trace = """
    How to read a trace:
      time     seconds since the start; virtual in simulations
      input    what happened; #3 is the third attempt, 0:7 the seventh message of lane 0,
               @0 the endpoint; lines with a dot are what network, device and user do
      state    where the machine is, marked → where it changed
      effects  what the owner must do: dial, abort, ping, transmit; settle ends a message for good;
               until is when the machine wants to be woken next
    """

  private static let formats = """
      --output F   write to this file, which is made or emptied
      --format F   how the run is written:
        text       the trace in columns (default)
        jsonl      for programs: the trace's header, then one JSON object a step; without notes
        sequence   a sequence diagram of client, network and server in 100 columns of ASCII; an
                   arrow that ends in x never arrived
        html       one page for a browser, with a timeline
        chrome     trace events, for https://ui.perfetto.dev or chrome://tracing
        pcapng     a capture of the client's host, for Wireshark; of what runs over bytes: a
                   condition, or a story that says "over": "bytes"

    """

  static let tour = """
    Usage: fsm-demo [tour] [--seed N] [--format FORMAT] [--output FILE]

    The whole life of one connection in virtual time: traffic, a peer that vanishes, refused
    dials, no network, recovery, close. Nothing sleeps. The same seed gives the same bytes.

      --seed N     what waits and delays are drawn from (default 5)

    \(formats)
      fsm-demo --format sequence
      fsm-demo --format html --output tour.html

    \(trace)
    """

  static let scenarios = """
    Usage: fsm-demo scenarios [NAME]

    Lists the built-in scenarios: stories, which are files, and conditions, which are links and
    faults on a simulated internet, and bare links, each with the source of its figures. With a
    name, prints that story's file, or what is known of that condition or link.

      fsm-demo scenarios
      fsm-demo scenarios dead-peer > mine.json     a file to start from
      fsm-demo simulate mine.json
    """

  static let simulate = """
    Usage: fsm-demo simulate FILE [--seed N] [--format FORMAT] [--output FILE]
           fsm-demo simulate --scenario NAME [--seed N] [--ping N] [--format FORMAT]
                             [--output FILE]

    Runs a scenario in virtual time and shows its trace. A scenario is a JSON file: a policy, a
    seed, and steps, each with its time in seconds: what the application does (api.connect,
    api.send …), what the network and the server do (net.open, net.refuse, net.silent_drop …),
    what the device does (dev.sleep …), and what is expected (expect.state …). An unknown event
    is answered with the list of those there are. A condition of the list runs a connection that
    ships over simulated bytes, with its default policy and a message now and then.

      --seed N     other dice than the scenario's own; 1 for a condition
      --ping N     for a condition: ping after N seconds of silence (default 25)

    \(formats)
      fsm-demo simulate --scenario accept-then-drop
      fsm-demo simulate --scenario commuter
      fsm-demo simulate --scenario alb-60-fin --ping 60 --seed 6
      fsm-demo simulate --scenario dead-peer --format sequence
      fsm-demo simulate --scenario commuter --format pcapng | tshark -r -
      fsm-demo scenarios dead-peer > mine.json && fsm-demo simulate mine.json --seed 7

    Exit status: 0 it went as it says; 1 it did not; 65 the file is no scenario; 66 it cannot
    be read; 74 the output cannot be written.

    \(trace)
    """

  static let table = """
    Usage: fsm-demo table [--format text|markdown|mermaid|dot]

    What the machine does in each phase with each kind of input: the phases it may go to and the
    effects it may have. Nothing of it is written by hand: machines are driven from rest into
    every phase that can be reached, with every input, and this is what was seen.

      fsm-demo table                                      for people
      fsm-demo table --format markdown                    every row, also what is ignored
      fsm-demo table --format mermaid                     a state diagram for GitHub and GitLab
      fsm-demo table --format dot | dot -Tsvg > fsm.svg   the same with Graphviz
    """

  static var explore: String {
    // The slices are as they are written: a policy among them that is none fails the tests.
    let slices = (try? Slice.all()) ?? []
    let list = slices.map { "  \($0.name.padded(to: 13))\($0.summary)" }
    return """
      Usage: fsm-demo explore [--slice NAME] [--depth N]

      Tries everything that can happen to the machine, in every order, and checks every promise
      after each step. Time goes in whole units, spans are a few of them, a random draw is its
      least or its greatest value, and situations that differ in names alone are one: so a slice
      of the machine's behaviour has an end, where nothing new can happen. A promise that is
      broken is shown with the shortest way there.

        --slice NAME   one slice
        --depth N      no more than so many steps

      \(list.joined(separator: "\n"))

        swift run -c release fsm-demo explore

      Exit status: 0 every promise held; 1 one did not.
      """
  }

  static let check = """
    Usage: fsm-demo check [--seeds A..B] [--jobs N] [--profile NAME] [--fail-fast]
                          [--summary FILE] [--out DIR]
           fsm-demo check --merge FILE… [--summary FILE] [--out DIR]

    Draws a story from each seed: a policy, what the application does, and what network, server
    and device do to it. Every promise is checked after each step; then everything is well, and
    within a time that follows from the policy a link must be open, a message delivered and the
    close complete. The first failure of each promise, five at most, is made as small as it goes
    and shown as a story, a trace and a Swift test.

      --seeds A..B     from A to B, both run; one number is that seed alone (default 0..9999)
      --jobs N         threads (default: one a core); without --fail-fast the result is the same
                       whatever N
      --profile NAME   machine: the machine alone, with a referee as its owner (default);
                       connection: a Connection over lines over simulated bytes, its runtime and
                       framing with it, some forty times slower;
                       websocket: the same over a WebSocket, compressed in every third story
      --fail-fast      stop at the first story that fails
      --summary FILE   write what it came to as JSON, for programs and for --merge
      --out DIR        write each small scenario and its test into DIR, such as I3-seed-123.json
                       and .swift; without it nothing is written but what is shown
      --merge FILE…    run nothing: add up the summaries of other seeds, from other processes
                       or machines, and report as if one had run them all

    Ctrl-C ends it after the stories that run, with the report of what was done. A bar tells on a
    terminal how far it is.

      swift run -c release fsm-demo check
      swift run -c release fsm-demo check --seeds 123 --out .
      fsm-demo check --merge shards/*.json

    Exit status: 0 every promise held; 1 one did not; 65 a file is no summary, or summaries do not
    add up; 66 a file cannot be read; 74 one cannot be written; 130 interrupted, and what was run
    went well.
    """

  static let why = """
    Usage: fsm-demo why TRACE.jsonl STEP

    Tells what led to a step of a trace: the chain of steps from the wish or the event that began
    it, one a line. A deadline was set by an earlier step, an answer belongs to the step that asked;
    the application's wishes and the device's events begin chains.

      fsm-demo simulate --scenario dead-peer --format jsonl > trace.jsonl
      fsm-demo why trace.jsonl 12

    Exit status: 64 there is no such step; 65 the file is no trace; 66 it cannot be read.
    """

  static let replay = """
    Usage: fsm-demo replay TRACE.jsonl...

    Feeds the inputs of a trace to a fresh machine, each at its instant, and compares what it makes
    of them with what was recorded. A run on real sockets replays as one in virtual time does, for
    nothing but policy, seed, inputs and instants decides. The first difference ends it: the steps
    that led there, and field by field what was recorded and what the replay gives.

    A segment that a TraceRecorder wrote replays alone, since it begins with what the machine was.
    Of several in their order, each must begin with the machine that the one before led to.

      fsm-demo connect tcp://127.0.0.1:7000 --format jsonl > trace.jsonl
      fsm-demo replay trace.jsonl
      fsm-demo replay recordings/chat-*.jsonl

    Exit status: 0 there is no difference; 1 there is one; 65 a file is no trace, is damaged, does
    not say where it begins, or does not follow the one before; 66 it cannot be read.
    """

  static let view = """
    Usage: fsm-demo view TRACE.jsonl [--format text|sequence|html|chrome] [--output FILE]

    Shows a recorded trace in another way than it was written: in columns, as a sequence diagram, as
    one page for a browser, or as trace events for Perfetto (fsm-demo help simulate tells of each).
    The trace is replayed for it, so that it must begin with the first step or be a segment of a
    recording. What the network and the device did is in no trace, and so in none of these.

      fsm-demo connect tcp://127.0.0.1:7000 --format jsonl > trace.jsonl
      fsm-demo view trace.jsonl --format sequence
      fsm-demo view trace.jsonl --format html --output trace.html

    Exit status: 0 all was shown; 1 a step does not replay; 65 the file is no trace, is damaged, or
    does not begin with the first step; 66 it cannot be read; 74 the output cannot be written.
    """

  static let fork = """
    Usage: fsm-demo fork FILE --at STEP [--seed N] [--do STEP]...
           fsm-demo fork --scenario NAME --at STEP [--seed N] [--do STEP]...

    Runs a story up to a step of its trace, copies the run, and lets one go on as it was and the
    other otherwise: with other dice, or with something that befalls it there, or both. Shows where
    they part, how each goes on, and what became of dials and messages. What the story expects is
    not demanded of the other.

      --at STEP   the number of a step of the trace, from 1
      --seed N    what all randomness is drawn from after that step
      --do STEP   an event of a scenario file and its argument, which befalls at once; in order, if
                  there are several

      fsm-demo fork --scenario dead-peer --at 5 --do "net.rst"
      fsm-demo fork --scenario tour --at 12 --seed 7 --do "net.http 503" --do "dev.background"

    Exit status: 0 both went to their end; 1 one did not; 64 there is no such step or event; 65 the
    file is no scenario; 66 it cannot be read.
    """

  static let bench = """
    Usage: fsm-demo bench [--simulator] [--clients N]

    Measures what a transition costs, beside a bare switch over a small enum, and what the
    simulator costs: its event queue alone, fleets of real machines, and the reconnect workload
    beside a bare loop over the same workload that has no machines. What is compared is measured
    in the same run. Takes about a minute; figures of a debug build mean nothing.

      --simulator   the simulator alone
      --clients N   so many clients in the reconnect workload (default 100000)

    The reconnect workload: each client dials within the first second; a dial takes one event at
    the server and one back, 20 to 80 ms each, and is refused with probability 0.2; an open link
    is dropped after an exponential time of mean 300 s and has a heartbeat every 25 s; after a
    refusal or a drop, full jitter from 1 s to 60 s.

      swift run -c release fsm-demo bench
      swift run -c release fsm-demo bench --simulator --clients 1000
    """
}
