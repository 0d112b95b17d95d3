// The page: fields and sliders tied together, the work in a worker, the answer, the address that keeps the setting.
"use strict";
(function () {
  const parts = self.gspaParts, gspa = {};
  parts.forEach((part) => part(gspa));
  const form = document.getElementById("calc"), result = document.getElementById("calc-result");
  const find = (id) => document.getElementById(`calc-${id}`);
  const NUMBERS = ["n", "eps", "eps2", "share", "delta", "rounds"];
  const WAIT = 150; // ms after the last change until the answer is looked for
  const HASTE = 12; // ms of work at a time where there is no worker

  // ---- fields: what was typed is the truth; a slider writes into its field ----

  const logarithmic = (name) => name !== "share";
  function fromSlider(name, position) {
    const { whole } = gspa.RANGES[name];
    if (!logarithmic(name)) return String(Number(position));
    const value = 10 ** position, exact = Number(value.toPrecision(name === "delta" ? 1 : 2));
    return name === "delta" ? exact.toExponential() : String(whole ? Math.round(exact) : exact);
  }

  function setSlider(name) {
    const slider = find(`${name}-slider`), value = Number(find(name).value);
    if (!(value > 0) && logarithmic(name)) return;
    slider.value = logarithmic(name) ? Math.log10(value) : value;
    slider.setAttribute("aria-valuetext", find(name).value);
  }

  function texts() {
    const now = { mechanism: form.elements.mechanism.value, budgets: form.elements.budgets.value, list: find("list").value };
    for (const name of NUMBERS) now[name] = find(name).value;
    return now;
  }

  function show(values) {
    form.elements.mechanism.value = values.mechanism;
    form.elements.budgets.value = values.budgets;
    find("list").value = values.list;
    for (const name of NUMBERS) {
      find(name).value = values[name];
      setSlider(name);
    }
    arrange();
  }

  // Only the fields of the chosen kind of budgets.
  function arrange() {
    const kind = form.elements.budgets.value;
    for (const row of form.querySelectorAll("[data-for]")) row.hidden = !row.dataset.for.split(" ").includes(kind);
    find("eps-name").textContent = kind === "two" ? "local eps of the first group" : "local eps of every user";
  }

  function complain(complaints) {
    for (const name of [...NUMBERS, "list", "mechanism"]) {
      const line = find(`${name}-error`), field = find(name), text = complaints[name] || "";
      if (line.textContent !== text) line.textContent = text;
      if (field) field.setAttribute("aria-invalid", String(text !== ""));
    }
  }

  // ---- work: in a worker made of the parts' own source, else in short pieces between the page's own ----

  let worker = null, busy = false, turn = 0;
  function work(setting) {
    const mine = ++turn;
    const took = (piece) => {
      if (mine === turn) take(setting, piece);
    };
    if (worker && busy) {
      worker.terminate(); // what it computes is no longer asked for
      worker = null;
    }
    busy = true;
    result.setAttribute("aria-busy", "true");
    result.classList.add("calc-waiting");
    try {
      worker = worker || startWorker();
    } catch {
      return inPieces(setting, mine, took);
    }
    worker.onmessage = ({ data }) => {
      if (data.turn === turn && data.done) busy = false;
      took(data);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      worker = null;
      inPieces(setting, mine, took);
    };
    worker.postMessage({ setting, turn: mine });
  }

  function startWorker() {
    const source = `"use strict"; const gspa = {}; [${parts.map(String).join(",\n")}].forEach((part) => part(gspa));
      onmessage = ({ data: { setting, turn } }) => {
        for (const piece of gspa.answer(setting)) postMessage({ ...piece, turn });
        postMessage({ done: true, turn });
      };`;
    const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" })), made = new Worker(address);
    URL.revokeObjectURL(address);
    return made;
  }

  function inPieces(setting, mine, took) {
    const pieces = gspa.answer(setting);
    (function more() {
      if (mine !== turn) return;
      for (const start = performance.now(); performance.now() - start < HASTE; ) {
        const { value, done } = pieces.next();
        if (done) {
          busy = false;
          return took({ done: true });
        }
        took(value);
      }
      setTimeout(more);
    })();
  }

  // ---- the answer ----

  // Six digits; and interval ends rounded outwards, to digits in which they differ.
  const six = (value) => String(Number(value.toPrecision(6)));
  const three = (value) => String(Number(value.toPrecision(3)));
  function outwards({ lower, upper }) {
    const wide = upper > 0 ? (upper - lower) / upper : 0;
    const digits = Math.min(Math.max(Math.ceil(-Math.log10(wide || 1)) + 2, 6), 8);
    const push = (value, up) => {
      if (value === 0) return "0";
      const near = Number(value.toPrecision(digits)), unit = 10 ** (Math.floor(Math.log10(value)) + 1 - digits);
      const off = up ? near < value : near > value;
      return String(Number((near + (off ? (up ? unit : -unit) : 0)).toPrecision(digits)));
    };
    return [push(lower, false), push(upper, true)];
  }
  const users = (count) => `${count.toLocaleString("en")} user${count === 1 ? "" : "s"}`;
  const once = (rounds) => (rounds === 1 ? "" : `, ${rounds} rounds`);

  let last = null; // {setting, exact, mu, paper, curve}
  function take(setting, piece) {
    if (piece.exact) showExact(setting, piece);
    if (piece.bounds) showBounds(setting, piece.bounds);
    if (piece.curve) {
      last.curve = piece.curve;
      drawCurve();
    }
    if (piece.done) result.removeAttribute("aria-busy");
  }

  function showExact(setting, { exact, mu, paper }) {
    last = { setting, exact, mu, paper, curve: null };
    const { people, delta, rounds, mechanism } = setting, top = people[people.length - 1], n = people.reduce((sum, { count }) => sum + count, 0);
    result.classList.remove("calc-stale", "calc-waiting");
    find("headline").textContent = exact.upper === 0
      ? `Central eps = 0: at delta = ${gspa.smallNumber(delta)} no budget is needed${once(rounds)}.`
      : `Central eps = ${six(exact.value)} at delta = ${gspa.smallNumber(delta)}${once(rounds)}.`;
    const [low, high] = outwards(exact);
    find("interval").textContent = `between ${low} and ${high}`;
    find("holds").textContent = `${gspa.VALID_FOR[mechanism]}.`;
    const alone = top.eps * rounds;
    find("people").textContent =
      people.length === 1
        ? `${users(n)} at local eps = ${top.eps}; without shuffling, the central eps is ${six(alone)}`
        : `${users(n)}, local eps from ${people[0].eps} to ${top.eps}; the worst off is one with the largest; without shuffling, the central eps is ${six(alone)}`;
    find("mu").textContent = Number.isFinite(mu) ? six(mu) : "none: nobody is left to hide among";
    find("paper").textContent = Number.isFinite(paper) ? six(paper) : "none";
    find("verdict").textContent = verdict(exact, paper, mechanism);
    find("command").textContent = gspa.command(setting);
    result.hidden = false;
  }

  function verdict({ lower, upper }, paper, mechanism) {
    if (!Number.isFinite(paper)) return "";
    if (mechanism === "common") return "It is not established for any one randomizer.";
    if (paper < lower) return `It is only ${three(paper / lower)} of the exact pair's: more than the pair can promise.`;
    if (upper === 0) return "The exact pair's is 0.";
    return paper > upper ? `It is ${three(paper / upper)} times the exact pair's.` : "It agrees with the exact pair's.";
  }

  function showBounds(setting, rows) {
    const body = find("bounds").tBodies[0];
    body.replaceChildren(
      ...rows.map((row) => {
        const line = document.createElement("tr"), name = document.createElement("th");
        name.scope = "row";
        name.textContent = row.label;
        const source = document.createElement("span");
        source.className = "calc-source";
        source.textContent = row.source;
        name.append(source);
        line.append(name);
        const kind = !row.valid ? "does not apply" : row.trivial ? "valid, trivial" : row.rigorous ? "valid" : "estimate";
        for (const text of [row.valid ? six(row.epsilon) : "", kind, row.notes.join("; ")]) line.insertCell().textContent = text;
        line.dataset.key = row.key;
        line.className = row.valid ? "" : "calc-refused";
        return line;
      }),
    );
    find("bounds-rounds").textContent = setting.rounds > 1 ? " They are for one of the rounds." : "";
  }

  function drawCurve() {
    if (!last || !last.curve) return;
    const { setting, exact, paper, curve } = last, { delta, rounds } = setting, figure = find("figure");
    const words = `delta against central eps${once(rounds)}. At delta = ${gspa.smallNumber(delta)} the pair's curve is at eps = ${six(exact.value)}` +
      (Number.isFinite(paper) ? `, the paper's Gaussian at eps = ${six(paper)}.` : ".");
    gspaChart.draw(find("curve"), curve, { delta, exact: exact.value, paper, width: figure.clientWidth, words });
    const beyond = paper > curve.eps[curve.eps.length - 1];
    find("beyond").textContent = beyond && Number.isFinite(paper) ? ` The paper's eps, ${six(paper)}, is beyond the right edge.` : "";
  }

  // ---- together ----

  let pending = 0, own = "";
  function update() {
    const now = texts(), { setting, complaints } = gspa.read(now), hash = gspa.toHash(now);
    complain(complaints);
    find("copy").disabled = hash === null || !setting;
    find("copied").textContent = hash === null ? "The list is too long for a link." : "";
    if (!setting) {
      turn++; // what is being computed is no longer asked for
      result.removeAttribute("aria-busy");
      result.classList.add("calc-stale");
      return;
    }
    if (hash !== null && hash !== location.hash) {
      own = hash;
      history.replaceState(null, "", hash);
    }
    work(setting);
  }

  function soon() {
    clearTimeout(pending);
    pending = setTimeout(update, WAIT);
  }

  form.addEventListener("input", ({ target }) => {
    const name = target.id.replace(/^calc-/, "").replace(/-slider$/, "");
    if (target.type === "range") {
      find(name).value = fromSlider(name, Number(target.value));
      target.setAttribute("aria-valuetext", find(name).value);
    } else if (NUMBERS.includes(name)) setSlider(name);
    if (target.name === "budgets") arrange();
    soon();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    update();
  });
  window.addEventListener("hashchange", () => {
    if (location.hash === own) return;
    show(gspa.fromHash(location.hash));
    update();
  });
  find("copy").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      find("copied").textContent = "Copied.";
    } catch {
      find("copied").textContent = "Copy the address of this page: it holds the setting.";
    }
  });
  new ResizeObserver(drawCurve).observe(find("figure"));

  find("without").hidden = true;
  form.hidden = false;
  show(gspa.fromHash(location.hash));
  update();
})();
