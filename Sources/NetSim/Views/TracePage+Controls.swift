extension TracePage {
  /// The second half of the script: which step is shown, what is said of it, what fingers and keys
  /// do, and the table.
  static let controls = #"""
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
    function point(event, moves) {
      const note = noteAt(event);
      if (note) describeNote(note);
      else choose(nearest(timeAt(place(event))), moves, true);
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
      if (moves && (current < base || current >= base + most)) showRows(current - 20);
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
        if (event.pointerType === "mouse") point(event, false);
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
        else point(event, true);
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

    // So many rows at a time: a browser with a million of them is of no use.
    const most = 300;
    let base = 0;
    function rowOfNote(note) {
      const row = make("tr", undefined, "note"), text = make("td", note[1]);
      text.colSpan = 3;
      row.append(make("td", "◆"), make("td", seconds(note[0])), text);
      row.tabIndex = 0;
      row.onclick = row.onfocus = () => describeNote(note);
      return row;
    }
    function rowOfStep(place) {
      const s = steps[place], row = make("tr"), state = make("td");
      if (s[DISPOSITION].startsWith("ignored")) row.className = "faint";
      if (s[FROM] !== s[TO] || !place) state.append(chip(s[TO]));
      const did = [s[DISPOSITION] === "accepted" ? "" : s[DISPOSITION], s[DID]];
      row.append(make("td", s[SEQ]), make("td", seconds(s[AT])));
      row.append(make("td", breakable(s[INPUT])), state);
      row.append(make("td", breakable(did.filter(Boolean).join(": "))));
      row.id = "s" + place;
      row.tabIndex = 0;
      row.onclick = row.onfocus = () => choose(place, true, true);
      return row;
    }
    function showRows(start) {
      base = Math.max(0, Math.min(start, steps.length - 1));
      const end = Math.min(steps.length, base + most), part = document.createDocumentFragment();
      let told = data.notes.findIndex(note => note[2] >= base);
      const notes = place => {
        while (told >= 0 && told < data.notes.length && data.notes[told][2] <= place)
          part.append(rowOfNote(data.notes[told++]));
      };
      for (let place = base; place < end; place++) {
        notes(place);
        part.append(rowOfStep(place));
      }
      if (end === steps.length) notes(end);
      rows.replaceChildren(part);
      byId("s" + current)?.classList.add("now");
      byId("earlier").hidden = base === 0;
      byId("later").hidden = end === steps.length;
      byId("earlier").textContent = "Earlier (" + base + ")";
      byId("later").textContent = "Later (" + (steps.length - end) + ")";
    }
    byId("earlier").onclick = () => showRows(base - most);
    byId("later").onclick = () => {
      showRows(base + most);
      rows.scrollIntoView();
    };

    for (const phase of new Set(data.phases.map(p => p[0]))) {
      const item = make("li"), box = make("i");
      box.style.background = "var(--" + phase + ")";
      item.append(box, names[phase]);
      byId("legend").append(item);
    }
    showRows(0);
    render();
    // The step that changed most to begin with: the first that went wrong, if one did.
    choose(Math.max(0, steps.findIndex(s => s[CAUSE] && s[FROM] !== s[TO])));
    new ResizeObserver(() => { if (plot.clientWidth !== width) render(); }).observe(plot);
    """#
}
