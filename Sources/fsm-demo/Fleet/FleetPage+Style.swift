extension FleetPage {
  /// Colours that also the colour-blind tell apart (Okabe and Ito, “Color Universal Design”, 2008),
  /// and dashes beside them; light or dark as the system is.
  static let style = """
    :root { --paper: #fff; --ink: #1c1e21; --faint: #5f6670; --grid: #e3e6ea; --down: #f4e3e0;
      --c0: #0072b2; --c1: #d55e00; --c2: #00805d; --c3: #b4558d; --c4: #1c1e21; --c5: #2f8fc4;
      --c6: #a87600; }
    @media (prefers-color-scheme: dark) {
      :root { --paper: #15171a; --ink: #e8eaed; --faint: #9aa3ad; --grid: #2b3036; --down: #3a2624;
        --c0: #4ba8e0; --c1: #f0803c; --c2: #2bc49a; --c3: #e08fc0; --c4: #e8eaed; --c5: #7cc8f2;
        --c6: #e6ab1e; }
    }
    body { margin: 0 auto; max-width: 60rem; padding: 1rem; background: var(--paper);
      color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
    h1 { font-size: 1.6rem; line-height: 1.25; margin: .5rem 0; }
    h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
    h3 { font-size: .9rem; font-weight: 600; margin: .75rem 0 0; }
    svg { display: block; width: 100%; overflow: visible; }
    svg text { fill: var(--faint); font: 12px system-ui, sans-serif; }
    .narrow { display: none; }
    @media (max-width: 40rem) { .wide { display: none; } .narrow { display: block; } }
    .grid { stroke: var(--grid); fill: none; }
    .down { fill: var(--down); }
    .bound { stroke: var(--faint); stroke-dasharray: 4 4; fill: none; }
    .line { fill: none; stroke-width: 2; stroke-linejoin: round; }
    .area { stroke: none; fill-opacity: .25; }
    .s0, .s7 { stroke: var(--c0); fill: var(--c0); }
    .s1, .s8 { stroke: var(--c1); fill: var(--c1); }
    .s2, .s9 { stroke: var(--c2); fill: var(--c2); }
    .s3, .s10 { stroke: var(--c3); fill: var(--c3); }
    .s4 { stroke: var(--c4); fill: var(--c4); }
    .s5 { stroke: var(--c5); fill: var(--c5); }
    .s6 { stroke: var(--c6); fill: var(--c6); }
    .line { fill: none; }
    .area { stroke: none; }
    .s1, .s9 { stroke-dasharray: 8 3; }
    .s2, .s7 { stroke-dasharray: 2 3; }
    .s3 { stroke-dasharray: 10 3 2 3; }
    .s4, .s8 { stroke-dasharray: 5 2; }
    .s5, .s10 { stroke-dasharray: 12 3 2 3 2 3; }
    .area + .line { stroke-dasharray: none; stroke-width: 1.25; }
    .legend { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; }
    .legend li { display: flex; align-items: center; gap: .5rem; }
    .legend svg { width: 36px; height: 10px; }
    .how { color: var(--faint); font-size: .9rem; }
    .table { overflow-x: auto; }
    table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
    th, td { text-align: right; padding: .3rem .6rem; white-space: nowrap;
      border-bottom: 1px solid var(--grid); }
    th:first-child, td:first-child { text-align: left; padding-left: 0; }
    th { color: var(--faint); font-weight: 600; }
    dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem;
      font-size: .9rem; color: var(--faint); }
    dt { font-weight: 600; } dd { margin: 0; }
    code { overflow-wrap: anywhere; }
    """
}
