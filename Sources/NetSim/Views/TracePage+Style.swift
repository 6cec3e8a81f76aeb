extension TracePage {
  /// Colours of phases have dark text on them, in the light and in the dark.
  static let style = """
    :root {
      --back: #f5f6f8; --card: #ffffff; --ink: #161b22; --soft: #5b6472; --line: #dfe3e8;
      --accent: #0a62d0; --bad: #d5382f; --good: #2f9e62; --beat: #4b7fd6; --queue: #7a5cc8;
      --note: #2b323c;
      --idle: #d9dde3; --offline: #aab3c0; --backingOff: #f0b54a; --suspended: #c5bde6;
      --waitingForCredentials: #dcaef0; --connecting: #86c0f4; --authenticating: #a5b6ff;
      --open: #6bcf97; --closing: #bcc6d2; --closed: #949dab;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --back: #0f1318; --card: #171c23; --ink: #e6eaf0; --soft: #98a2b1; --line: #2b323c;
        --accent: #6fb1ff; --bad: #ff7168; --good: #4fc487; --beat: #7ea9f2; --queue: #ab91f0;
        --note: #d5dbe4;
        --idle: #aab1bb; --offline: #8a94a3; --closing: #9aa6b5; --closed: #7d8796;
      }
    }
    * { box-sizing: border-box; }
    body {
      margin: 0 auto; padding: 28px 24px 64px; max-width: 1240px; background: var(--back);
      color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
    }
    h1 { font-size: 26px; line-height: 1.2; margin: 0; letter-spacing: -0.01em; }
    h2 { font-size: 15px; margin: 0 0 8px; }
    header p { margin: 4px 0 0; color: var(--soft); }
    .facts { display: grid; grid-template-columns: repeat(4, 1fr); gap: 12px; margin: 20px 0 12px; }
    .facts div, .card {
      background: var(--card); border: 1px solid var(--line); border-radius: 10px;
    }
    .facts div { padding: 10px 14px; }
    .facts dt { color: var(--soft); font-size: 13px; }
    .facts dd { margin: 0; font-size: 21px; font-weight: 600; line-height: 1.25; }
    .facts small { display: block; font-size: 13px; font-weight: 400; color: var(--soft); }
    .card { padding: 14px 16px; margin: 0 0 12px; }
    .bar { display: flex; align-items: center; gap: 6px; margin-bottom: 4px; }
    #range { flex: 1; color: var(--soft); font-variant-numeric: tabular-nums; }
    button {
      font: inherit; color: var(--ink); background: var(--card); border: 1px solid var(--line);
      border-radius: 7px; min-width: 36px; min-height: 32px; padding: 0 10px; cursor: pointer;
    }
    button:hover { border-color: var(--accent); }
    :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
    #plot { margin: 0 -7px; border-radius: 6px; cursor: crosshair; }
    #plot { touch-action: pan-y; user-select: none; }
    #chart { display: block; width: 100%; }
    #chart text { font-size: 11.5px; fill: var(--ink); }
    #chart .soft { fill: var(--soft); paint-order: stroke; }
    #chart .soft { stroke: var(--card); stroke-width: 3px; }
    #chart .on { fill: #10151c; font-weight: 500; }
    #legend {
      list-style: none; display: flex; flex-wrap: wrap; gap: 4px 14px; margin: 2px 0 0; padding: 0;
      font-size: 13px; color: var(--soft);
    }
    #legend i { display: inline-block; width: 11px; height: 11px; border-radius: 3px; }
    #legend i { margin-right: 5px; vertical-align: -1px; }
    #detail { min-height: 236px; }
    .columns { display: grid; grid-template-columns: 1fr 1fr; gap: 0 32px; }
    .columns { align-items: start; }
    #detail h2 span { color: var(--soft); font-weight: 400; }
    #detail .what { font-size: 17px; font-weight: 600; overflow-wrap: anywhere; }
    #detail dl { display: grid; grid-template-columns: 96px 1fr; gap: 2px 12px; margin: 6px 0 0; }
    #detail dt { color: var(--soft); }
    #detail dd { margin: 0; overflow-wrap: anywhere; }
    #detail ol { margin: 0; padding: 0; list-style: none; }
    #detail li button {
      border: 0; background: none; padding: 0; min-height: 26px; text-align: left;
      color: var(--accent); font-variant-numeric: tabular-nums;
    }
    .chip {
      display: inline-block; border-radius: 5px; padding: 0 7px; color: #10151c; font-size: 13px;
      font-weight: 500; white-space: nowrap;
    }
    table { width: 100%; border-collapse: collapse; font-size: 14px; }
    th { text-align: left; font-weight: 500; color: var(--soft); padding: 4px 8px; }
    td { border-top: 1px solid var(--line); padding: 4px 8px; vertical-align: top; }
    td { overflow-wrap: anywhere; }
    td:nth-child(-n + 2), th:nth-child(-n + 2) {
      text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap;
    }
    td:first-child { color: var(--soft); }
    tr.faint td { color: var(--soft); }
    tr.note td { font-style: italic; }
    tr.note td:first-child { font-style: normal; }
    tbody tr { cursor: pointer; }
    tbody tr:hover td { background: color-mix(in srgb, var(--accent) 7%, transparent); }
    tbody tr.now td { background: color-mix(in srgb, var(--accent) 15%, transparent); }
    #earlier { margin: 0 8px 10px; }
    #later { margin: 10px 8px 0; }
    @media (max-width: 720px) {
      body { padding: 18px 12px 48px; }
      .facts { grid-template-columns: repeat(2, 1fr); gap: 8px; }
      .card { padding: 12px; }
      #legend { gap: 3px 12px; }
      .columns { grid-template-columns: 1fr; }
      #detail dl { grid-template-columns: 76px 1fr; }
      button { min-height: 38px; }
      thead { display: none; }
      tbody tr { display: grid; grid-template-columns: 66px 1fr auto; padding: 6px 0; }
      tbody tr { border-top: 1px solid var(--line); column-gap: 10px; }
      td { border: 0; padding: 1px 0; }
      td:first-child { display: none; }
      td:last-child { grid-column: 2 / -1; color: var(--soft); }
      td:last-child:empty { display: none; }
      tr.note td:last-child { color: var(--ink); }
      tbody tr:hover td, tbody tr.now td { background: none; }
      tbody tr.now { background: color-mix(in srgb, var(--accent) 15%, transparent); }
    }
    """
}
