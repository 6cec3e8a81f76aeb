extension TracePage {
  /// Draws the chart and fills the rest. Text goes in as text nodes only.
  static let script = #"""
    "use strict";
    {
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
    let from = data.start, to = data.start + whole, current = -1, shown = 0;

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
      const count = Math.floor(room / 6.6);
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
        const failed = opened === null && ended !== null;
        bar("dial" + rowOf[place], dialled, opened ?? end, y, 14,
          failed ? "var(--bad)" : "var(--connecting)", 3);
        const next = data.attempts[place + 1]?.[2] ?? to;
        let start = x(dialled) + 5, room = x(Math.min(end, next)) - start;
        if (opened !== null) {
          const at = bar("open" + rowOf[place], opened, end, y, 14, "var(--open)", 2);
          if (at) { start = at[0] + 5; room = at[1] - start; }
          if (ended !== null && cause !== "closedByUser")
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
      draw("text", { x: width - edge, y: y - 6, class: "soft", "text-anchor": "end" }, "most " + deepest);
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

    function chain(s) {
      const list = [s];
      while (list[0][PARENT] && step(list[0][PARENT]) && list.length < 100)
        list.unshift(step(list[0][PARENT]));
      return list;
    }
    function drawCurrent() {
      for (const old of chart.querySelectorAll(".current")) old.remove();
      const s = steps[current];
      if (!s) return;
      for (const link of chain(s)) {
        const a = x(link[AT]);
        draw("rect", { x: a - 1.5, y: top("steps") - 2, width: 3, height: 16, class: "current",
          fill: "var(--accent)" });
      }
      draw("line", { x1: x(s[AT]), x2: x(s[AT]), y1: 12, y2: axis, stroke: "var(--accent)",
        "stroke-width": 1.5, class: "current" });
    }
    function describeNote(note) {
      const head = make("h2", "Note ");
      head.append(make("span", "at " + seconds(note[0]) + " s"));
      detail.replaceChildren(head, make("div", note[1], "what"));
    }
    function noteAt(event) {
      const box = plot.getBoundingClientRect(), y = event.clientY - box.top - top("notes");
      if (!(y > -10 && y < 22)) return null;
      const away = note => Math.abs(x(note[0]) - (event.clientX - box.left));
      const best = data.notes.reduce((a, b) => away(b) < away(a) ? b : a);
      return away(best) < 30 ? best : null;
    }
    function point(event) {
      const note = noteAt(event);
      if (note) describeNote(note);
      else choose(nearest(timeAt(place(event))), false, true);
    }
    function term(list, name, value) {
      const dd = make("dd");
      dd.append(value);
      list.append(make("dt", name), dd);
    }
    function describe() {
      const s = steps[current];
      if (!s) { detail.replaceChildren(make("h2", "No steps")); return; }
      const head = make("h2", "Step " + s[SEQ] + " ");
      head.append(make("span", "at " + seconds(s[AT]) + " s"));
      const what = make("div", s[INPUT] + " ", "what");
      const list = make("dl"), state = make("span");
      if (s[FROM] !== s[TO]) state.append(chip(s[FROM]), " → ");
      state.append(chip(s[TO]), s[CAUSE] ? " " + s[CAUSE] : "");
      term(list, "State", state);
      if (s[DISPOSITION] !== "accepted") term(list, "Answer", s[DISPOSITION]);
      if (s[DID]) term(list, "Did", s[DID]);
      if (s[WAITS] !== "nothing")
        term(list, "Waits for", s[WAITS] + (s[UNTIL] === null ? "" : ", until "
          + seconds(s[UNTIL]) + " s"));
      const side = make("dl"), causes = chain(s).slice(0, -1), items = make("ol");
      for (const cause of causes.slice(-6)) {
        const item = make("li"), button = make("button",
          seconds(cause[AT]) + "  " + cause[INPUT] + (cause[DID] ? ": " + cause[DID] : ""));
        button.type = "button";
        button.onclick = () => choose(cause[SEQ] - first, true);
        item.append(button);
        items.append(item);
      }
      term(side, "Led to by", causes.length ? items : "nothing earlier: it begins a chain");
      const columns = make("div", undefined, "columns");
      columns.append(list, side);
      detail.replaceChildren(head, what, columns);
    }
    function choose(place, moves, again) {
      if (!steps.length) return describe();
      place = Math.max(0, Math.min(steps.length - 1, place));
      if (place === current && !again) return;
      byId("s" + current)?.classList.remove("now");
      current = place;
      byId("s" + current)?.classList.add("now");
      const t = steps[current][AT];
      if (moves && (t < from || t > to)) move(t - (to - from) / 2, to - from);
      drawCurrent();
      describe();
    }
    function nearest(t) {
      let low = 0, high = steps.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (steps[middle][AT] < t) low = middle + 1; else high = middle;
      }
      if (low === steps.length) return low - 1;
      return low > 0 && t - steps[low - 1][AT] < steps[low][AT] - t ? low - 1 : low;
    }

    function move(start, length) {
      length = Math.max(2e6, Math.min(whole, length));
      from = Math.max(data.start, Math.min(data.start + whole - length, start));
      to = from + length;
      render();
    }
    function zoom(factor, px = width / 2) {
      const t = timeAt(px), length = Math.max(2e6, (to - from) * factor);
      move(t - px / width * length, length);
    }
    const fingers = new Map();
    let dragged = false;
    const place = event => event.clientX - plot.getBoundingClientRect().left;
    plot.onpointerdown = event => {
      fingers.set(event.pointerId, place(event));
      dragged = false;
    };
    plot.onpointermove = event => {
      const px = place(event), old = fingers.get(event.pointerId);
      if (old === undefined) {
        if (event.pointerType === "mouse") point(event);
        return;
      }
      if (fingers.size === 2) {
        const other = [...fingers].find(([id]) => id !== event.pointerId)[1];
        const before = Math.max(8, Math.abs(old - other));
        zoom(before / Math.max(8, Math.abs(px - other)), (px + other) / 2);
      } else if (dragged || Math.abs(px - old) > 4) {
        if (!dragged) plot.setPointerCapture(event.pointerId);
        move(from - (px - old) / width * (to - from), to - from);
      } else return;
      dragged = true;
      fingers.set(event.pointerId, px);
    };
    plot.onpointerup = plot.onpointercancel = event => {
      if (!dragged && event.type === "pointerup") {
        const y = event.clientY - plot.getBoundingClientRect().top;
        if (to - from < whole && y > overview - 8)
          move(data.start + place(event) / width * whole - (to - from) / 2, to - from);
        else point(event);
      }
      fingers.delete(event.pointerId);
    };
    plot.ondblclick = event => zoom(0.4, place(event));
    plot.addEventListener("wheel", event => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      zoom(Math.exp(event.deltaY / 200), place(event));
    }, { passive: false });
    plot.onkeydown = event => {
      const action = {
        ArrowLeft: () => choose(current - 1, true), ArrowRight: () => choose(current + 1, true),
        "+": () => zoom(0.5, at()), "=": () => zoom(0.5, at()), "-": () => zoom(2, at()),
        "0": () => move(data.start, whole), Home: () => choose(0, true),
        End: () => choose(steps.length - 1, true)
      }[event.key];
      if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      action();
    };
    const at = () => steps[current] ? x(steps[current][AT]) : width / 2;
    byId("in").onclick = () => zoom(0.5, at());
    byId("out").onclick = () => zoom(2, at());
    byId("all").onclick = () => move(data.start, whole);

    let told = 0;
    function showNotes(part) {
      for (; told < data.notes.length && data.notes[told][2] <= shown; told++) {
        const note = data.notes[told], row = make("tr", undefined, "note"), text = make("td");
        text.colSpan = 3;
        text.textContent = note[1];
        row.append(make("td", "◆"), make("td", seconds(note[0])), text);
        row.tabIndex = 0;
        row.onclick = row.onfocus = () => describeNote(note);
        part.append(row);
      }
    }
    function showMore() {
      const end = Math.min(steps.length, shown + 300), part = document.createDocumentFragment();
      for (; shown < end; shown++) {
        showNotes(part);
        const s = steps[shown], row = make("tr"), place = shown, state = make("td");
        if (s[DISPOSITION].startsWith("ignored")) row.className = "faint";
        if (s[FROM] !== s[TO] || !place) state.append(chip(s[TO]));
        const did = [s[DISPOSITION] === "accepted" ? "" : s[DISPOSITION], s[DID]];
        row.append(make("td", s[SEQ]), make("td", seconds(s[AT])), make("td", breakable(s[INPUT])), state,
          make("td", breakable(did.filter(Boolean).join(": "))));
        row.id = "s" + place;
        row.tabIndex = 0;
        row.onclick = row.onfocus = () => choose(place, true, true);
        part.append(row);
      }
      showNotes(part);
      rows.append(part);
      byId("more").hidden = shown >= steps.length;
      byId("more").textContent = "Show more (" + (steps.length - shown) + " left)";
    }
    byId("more").onclick = showMore;

    for (const phase of new Set(data.phases.map(p => p[0]))) {
      const item = make("li"), box = make("i");
      box.style.background = "var(--" + phase + ")";
      item.append(box, names[phase]);
      byId("legend").append(item);
    }
    showMore();
    render();
    // The step that changed most to begin with: the first that went wrong, if one did.
    choose(Math.max(0, steps.findIndex(s => s[CAUSE] && s[FROM] !== s[TO])));
    new ResizeObserver(() => { if (plot.clientWidth !== width) render(); }).observe(plot);
    }
    """#
}
