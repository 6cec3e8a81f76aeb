extension TracePage {
  /// Draws the chart and fills the rest. Text goes in as text nodes only.
  static var script: String { "\"use strict\";\n{\n\(chart)\n\(controls)\n}" }

  private static let chart = #"""
    const data = JSON.parse(document.getElementById("data").textContent);
    const [SEQ, AT, PARENT, INPUT, DISPOSITION, FROM, TO, DID, WAITS, UNTIL, CAUSE] =
      Array(11).keys();
    const names = {
      idle: "idle", offline: "offline", backingOff: "backing off",
      waitingForCredentials: "waiting for credentials", suspended: "suspended",
      connecting: "connecting", authenticating: "authenticating", open: "open",
      closing: "closing", closed: "closed"
    };
    const byId = id => document.getElementById(id);
    const plot = byId("plot"), chart = byId("chart"), rows = byId("rows"), detail = byId("detail");
    const steps = data.steps, first = steps.length ? steps[0][SEQ] : 1;
    const step = sequence => steps[sequence - first];
    const whole = Math.max(1e6, data.end - data.start);
    let from = data.start, to = data.start + whole, current = -1;

    function seconds(t, digits = 3) { return (Math.floor(t / 1e6) / 1e3).toFixed(digits); }
    function span(t) {
      const s = t / 1e9;
      if (s < 1) return Math.round(s * 1e3) + " ms";
      if (s < 60) return (s < 10 ? s.toFixed(1) : s.toFixed(0)) + " s";
      const [large, small, size] = s < 3600 ? [" min", " s", 60] : [" h", " min", 3600];
      const rest = Math.floor(s % size / (size / 60));
      return Math.floor(s / size) + large + (rest ? " " + rest + small : "");
    }
    // A line may break behind a parenthesis.
    const breakable = text => text.replaceAll("(", "(\u200b");
    function make(tag, text, type) {
      const element = document.createElement(tag);
      if (text !== undefined) element.textContent = text;
      if (type) element.className = type;
      return element;
    }
    function draw(tag, fields, text) {
      const element = document.createElementNS(chart.namespaceURI, tag);
      for (const name in fields) element.setAttribute(name, fields[name]);
      if (text !== undefined) element.textContent = text;
      chart.append(element);
      return element;
    }
    function chip(phase) {
      const element = make("span", names[phase], "chip");
      element.style.background = "var(--" + phase + ")";
      return element;
    }

    // Ends that somebody wanted.
    const wished = ["closedByUser", "replaced", "suspended"];
    // Attempts that overlap have rows of their own.
    const rowOf = [], rowEnds = [];
    for (const [, , dialled, , ended] of data.attempts) {
      let row = rowEnds.findIndex(end => dialled >= end);
      if (row < 0) row = rowEnds.length;
      rowEnds[row] = ended ?? Infinity;
      rowOf.push(row);
    }
    const deepest = data.depths.reduce((most, d) => Math.max(most, d[1]), 1);
    const tracks = [];
    let height = 0;
    for (const [name, label, size, isThere] of [
      ["state", "State", 24, true], ["links", "Attempts and links", 17 * rowEnds.length, true],
      ["beats", "Heartbeats", 13, data.pings.length > 0],
      ["queue", "Messages without an end", 34, data.depths.length > 1],
      ["notes", "Network and device", 16, data.notes.length > 0], ["steps", "Steps", 12, true]
    ]) {
      if (!isThere) continue;
      tracks.push({ name, label, top: height + 19, size });
      height += 19 + size + 7;
    }
    const axis = height + 6, overview = axis + 26;
    const top = name => tracks.find(t => t.name === name)?.top;

    let width = 0;
    // Room for half a mark at either end.
    const edge = 7;
    const x = t => edge + (t - from) / (to - from) * (width - 2 * edge);
    const timeAt = px => from + (px - edge) / (width - 2 * edge) * (to - from);

    // A bar, if it can be seen: at least so wide, and not one pixel after the other at one place.
    const seen = {};
    function bar(track, start, end, y, size, fill, least, fields) {
      let a = x(start), b = Math.max(x(end), a + least);
      if (b < 0 || a > width) return null;
      a = Math.max(a, 0); b = Math.min(b, width);
      const key = track + fill, mark = Math.round(b * 2);
      if (b - a <= least && seen[key] === mark) return null;
      seen[key] = mark;
      draw("rect", Object.assign({ x: a, y, width: b - a, height: size, fill, rx: 2 }, fields));
      return [Math.max(a, 0), Math.min(b, width)];
    }
    function fit(text, room) {
      const count = Math.floor(room / 6.9);
      return text.length <= count ? text : count < 6 ? "" : text.slice(0, count - 1) + "…";
    }

    function render() {
      width = plot.clientWidth;
      chart.replaceChildren();
      for (const key in seen) delete seen[key];
      chart.setAttribute("height", overview + 14);
      chart.setAttribute("viewBox", "0 0 " + width + " " + (overview + 14));
      drawAxis();
      for (const t of tracks) draw("text", { x: edge, y: t.top - 6, class: "soft" }, t.label);
      for (const [phase, start, end] of data.phases) {
        const at = bar("state", start, end, top("state"), 24, "var(--" + phase + ")", 1.5);
        const label = at && fit(names[phase], at[1] - at[0] - 10);
        if (label) draw("text", { x: at[0] + 6, y: top("state") + 16, class: "on" }, label);
      }
      drawAttempts();
      for (const [, , sent, answered, ended] of data.pings) {
        const fill = answered === null && ended !== null ? "var(--bad)" : "var(--beat)";
        bar("beats", sent, answered ?? ended ?? data.end, top("beats"), 13, fill, 3);
      }
      drawQueue();
      drawNotes();
      for (const s of steps) bar("steps", s[AT], s[AT], top("steps"), 12, "var(--soft)", 1);
      drawOverview();
      drawCurrent();
      byId("range").textContent =
        from <= data.start && to >= data.start + whole ? "all: " + span(whole)
          : seconds(from, 1) + " s … " + seconds(to, 1) + " s (" + span(to - from) + ")";
    }
    function drawAxis() {
      const sizes = [1, 2, 5, 10, 20, 50, 100, 200, 500].map(ms => ms * 1e6).concat(
        [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 43200, 86400,
          604800, 2592000].map(s => s * 1e9));
      const wish = (to - from) / Math.max(3, width / 110);
      const size = sizes.find(s => s >= wish) ?? sizes.at(-1);
      const digits = size < 1e7 ? 3 : size < 1e8 ? 2 : size < 1e9 ? 1 : 0;
      draw("line", { x1: edge, x2: width - edge, y1: axis, y2: axis, stroke: "var(--line)" });
      for (let t = Math.ceil(from / size) * size; t <= to; t += size) {
        draw("line", { x1: x(t), x2: x(t), y1: 12, y2: axis, stroke: "var(--line)" });
        const text = size >= 6e10 && to >= 6e11 ? span(t)
          : seconds(t, digits) + " s";
        const anchor = x(t) > width - 24 ? "end" : x(t) < 20 && t > 0 ? "start" : "middle";
        draw("text", { x: x(t), y: axis + 15, class: "soft", "text-anchor": anchor },
          t === 0 ? "0" : text);
      }
    }
    function drawAttempts() {
      data.attempts.forEach(([epoch, , dialled, opened, ended, cause], place) => {
        const y = top("links") + 17 * rowOf[place], end = ended ?? data.end;
        const wentWrong = ended !== null && !wished.includes(cause);
        bar("dial" + rowOf[place], dialled, opened ?? end, y, 14,
          opened === null && wentWrong ? "var(--bad)" : "var(--connecting)", 3);
        const next = data.attempts[place + 1]?.[2] ?? to;
        let start = x(dialled) + 5, room = x(Math.min(end, next)) - start;
        if (opened !== null) {
          const at = bar("open" + rowOf[place], opened, end, y, 14, "var(--open)", 2);
          if (at) { start = at[0] + 5; room = at[1] - start; }
          if (wentWrong)
            bar("end" + rowOf[place], ended, ended, y - 1, 16, "var(--bad)", 3);
        } else { room = x(next) - start - 8; start += Math.max(0, x(end) - x(dialled)); }
        if (room > 20 && start >= 0 && start < width - 12)
          draw("text", { x: start + 1, y: y + 11, class: opened === null ? "soft" : "on" },
            "#" + epoch);
      });
    }
    function drawQueue() {
      const y = top("queue");
      if (y === undefined) return;
      const at = count => y + 34 - count / deepest * 30;
      let path = "M" + x(data.start) + " " + at(0);
      for (const [t, count] of data.depths) path += "H" + x(t) + "V" + at(count);
      path += "H" + x(data.end) + "V" + at(0) + "Z";
      draw("path", { d: path, fill: "var(--queue)", "fill-opacity": 0.28, stroke: "var(--queue)" });
      const label = { x: width - edge, y: y - 6, class: "soft", "text-anchor": "end" };
      draw("text", label, "most " + deepest);
    }
    function drawNotes() {
      const y = top("notes");
      data.notes.forEach(([t, text], place) => {
        const a = x(t);
        if (a < -6 || a > width + 6) return;
        const mark = Math.round(a);
        if (seen.note === mark) return;
        seen.note = mark;
        draw("path", { d: `M${a} ${y + 2}l6 6l-6 6l-6-6z`, fill: "var(--note)" });
        const next = data.notes[place + 1] ? x(data.notes[place + 1][0]) - 8 : width;
        const label = fit(text, Math.min(next, width) - a - 12);
        if (label) draw("text", { x: a + 10, y: y + 12 }, label);
      });
    }
    function drawOverview() {
      if (to - from >= whole) return;
      const all = t => edge + (t - data.start) / whole * (width - 2 * edge);
      let last = -1;
      for (const [phase, start, end] of data.phases) {
        // What ends within the pixel of the one before is left out.
        if (Math.round(all(end)) === last) continue;
        last = Math.round(all(end));
        draw("rect", { x: all(start), y: overview, height: 8, fill: "var(--" + phase + ")",
          width: Math.max(1, all(end) - all(start)), opacity: 0.6 });
      }
      draw("rect", { x: all(from), y: overview - 2, height: 12, fill: "none", rx: 3,
        width: Math.max(6, all(to) - all(from)), stroke: "var(--accent)", "stroke-width": 2 });
    }
    """#
}
