// The page: fields and sliders tied together, the work in a worker, the answer, the address that keeps the setting.
"use strict";
(function () {
  const parts = self.gspaParts, gspa = {};
  parts.forEach((part) => part(gspa));
  const form = document.getElementById("calc"), result = document.getElementById("calc-result");
  const find = (id) => document.getElementById(`calc-${id}`);
  const NUMBERS = ["n", "eps", "n2", "eps2", "k", "sigma", "sensitivity", "target_eps", "delta", "rounds"];
  const WAIT = 150; // ms after the last change until the answer is looked for
  const OWN = "the method's own value "; // of what an interval is whose lower end is no attack
  const HASTE = 12; // ms of work at a time where there is no worker

  // ---- fields: what was typed is the truth; a slider writes into its field ----

  function fromSlider(name, position) {
    const { whole } = gspa.RANGES[name];
    const value = 10 ** position, exact = Number(value.toPrecision(name === "delta" ? 1 : 2));
    return name === "delta" ? exact.toExponential() : String(whole ? Math.round(exact) : exact);
  }

  function setSlider(name) {
    const slider = find(`${name}-slider`), value = Number(gspa.plainly(find(name).value));
    if (!(value > 0)) return;
    slider.value = Math.log10(value);
    slider.setAttribute("aria-valuetext", find(name).value);
  }

  function texts() {
    const now = { list: find("list").value };
    for (const name of ["mechanism", "budgets", "asks"]) now[name] = form.elements[name].value;
    for (const name of NUMBERS) now[name] = find(name).value;
    return now;
  }

  function show(values) {
    for (const radio of form.elements.mechanism) radio.checked = radio.value === values.mechanism; // or none
    for (const name of ["budgets", "asks"]) form.elements[name].value = values[name];
    find("list").value = values.list;
    for (const name of NUMBERS) {
      find(name).value = values[name];
      setSlider(name);
    }
    arrange();
  }

  // Only the fields, and their names, of what is chosen.
  function arrange() {
    const now = texts(), kind = gspa.kindOf(now), has = (list, name) => list.split(" ").includes(name);
    for (const row of form.querySelectorAll("[data-for], [data-unless], [data-mechanism], [data-asks]")) {
      const { for: kinds = kind, mechanism = now.mechanism, asks = now.asks, unless = "" } = row.dataset;
      const wanted = has(kinds, kind) && mechanism === now.mechanism && asks === now.asks;
      row.hidden = !wanted || has(unless, now.mechanism) || has(unless, now.asks);
    }
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

  const six = (value) => String(Number(value.toPrecision(6)));
  const three = (value) => String(Number(value.toPrecision(3)));
  const users = (count) => `${count.toLocaleString("en")} user${count === 1 ? "" : "s"}`;
  const once = (rounds) => (rounds === 1 ? "" : `, ${rounds} rounds`);

  let last = null; // {setting, exact, mu, paper, curve}
  function take(setting, piece) {
    if (piece.exact) showExact(setting, piece);
    if ("local" in piece) showLocal(setting, piece);
    if ("bounds" in piece) showBounds(setting, piece.bounds);
    if (piece.rates) {
      const each = gspa.RATES.map((rate, i) => `<= ${gspa.percent(piece.rates.tpr[i])} at ${100 * rate}%`).join(" and ");
      find("rates").textContent = `true-positive rate ${each} false positives; advantage (TPR - FPR) <= ${gspa.percent(piece.rates.advantage)}`;
    }
    if (piece.curve) {
      last.curve = piece.curve;
      drawCurve();
    }
    if (piece.done) result.removeAttribute("aria-busy");
  }

  // What every answer has, and which of the other parts this one has.
  function showAnswer(setting, { method, holds, note, warnings }, parts) {
    const elsewhere = gspa.elsewhere(setting);
    result.classList.remove("calc-stale", "calc-waiting");
    find("method").textContent = method;
    find("note").textContent = note && `. ${note[0].toUpperCase()}${note.slice(1)}.`;
    find("holds").textContent = holds;
    find("warnings").replaceChildren(...warnings.map((text) => Object.assign(document.createElement("li"), { textContent: text })));
    for (const name of ["csv", "command", "python"]) find(name).textContent = elsewhere[name];
    find("file").hidden = elsewhere.csv === "";
    for (const part of result.querySelectorAll("[data-part]")) part.hidden = !parts.includes(part.dataset.part);
    find("figure").hidden = !parts.includes("rates");
    result.hidden = false;
  }

  function showLocal(setting, piece) {
    const { target, delta, n } = setting, asked = ` at central eps = ${target}, delta = ${gspa.smallNumber(delta)}`;
    last = null;
    showAnswer(setting, piece, []);
    const [low, high] = piece.local ? gspa.outwards(piece.local) : [];
    find("what").textContent = piece.local ? "Local" : "Any local eps up to 600 meets it";
    find("upper").textContent = piece.local ? `eps <= ${low}` : "";
    find("interval").textContent = piece.local ? `; the largest ${piece.own ? `by ${OWN}` : ""}is certified in [${low}, ${high}]` : "";
    find("asked").textContent = asked;
    find("people").textContent = `${users(n)}, one local eps for all`;
  }

  function showExact(setting, piece) {
    const { exact, mu, paper } = piece, { people, delta, rounds, mechanism, n, sigma, sensitivity } = setting;
    last = { setting, exact, mu, paper, curve: null };
    showAnswer(setting, piece, mu === null ? ["rates"] : ["rates", "paper"]);
    const low = exact.lower === null ? null : gspa.rounded(exact.lower, false), high = gspa.rounded(exact.upper, true);
    find("what").textContent = "Central";
    find("upper").textContent = `eps <= ${high}`;
    find("interval").textContent = low === null ? ", certified" : `, ${piece.own ? OWN : ""}certified in [${low}, ${high}]`;
    find("asked").textContent = ` at delta = ${gspa.smallNumber(delta)}${once(rounds)}`;
    find("rates").textContent = "...";
    const top = people[people.length - 1], without = () => `without shuffling, the central eps is ${six(top.eps * rounds)}`;
    find("people").textContent =
      people.length === 0 ? `${users(n)} with noise of standard deviation ${sigma} on values in [0, ${sensitivity}]`
        : people.length === 1 ? `${users(n)} at local eps = ${top.eps}; ${without()}`
          : `${users(n)}, local eps from ${people[0].eps} to ${top.eps}; the worst off is one with the largest; ${without()}`;
    if (mu === null) return;
    find("mu").textContent = Number.isFinite(mu) ? six(mu) : "none: nobody is left to hide among";
    find("paper").textContent = Number.isFinite(paper) ? six(paper) : "none";
    find("verdict").textContent = verdict(exact, paper, mechanism);
  }

  function verdict({ lower, upper }, paper, mechanism) {
    if (!Number.isFinite(paper)) return "";
    if (mechanism === "common") return "It is not established for any one randomizer.";
    if (paper < lower) return `It is only ${three(paper / lower)} of the certified one: more than can be promised.`;
    if (upper === 0) return "The certified one is 0.";
    return paper > upper ? `It is ${three(paper / upper)} times the certified one.` : "It agrees with the certified one.";
  }

  function showBounds(setting, rows) {
    const body = find("bounds").tBodies[0];
    result.querySelector("[data-part=bounds]").hidden = rows === null;
    if (rows === null) return;
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
        const kind = !row.valid ? "refused" : row.trivial ? "trivial: no amplification" : row.rigorous ? "valid" : "estimate";
        for (const text of [!row.valid ? "" : row.rigorous ? gspa.rounded(row.epsilon, true) : six(row.epsilon), kind, row.notes.join("; ")]) line.insertCell().textContent = text;
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
    const words = `delta against central eps${once(rounds)}. At delta = ${gspa.smallNumber(delta)} the certified curve is at eps <= ${gspa.rounded(exact.upper, true)}` +
      (Number.isFinite(paper) ? `, the paper's Gaussian at eps = ${six(paper)}.` : ".");
    gspaChart.draw(find("curve"), curve, { delta, exact: exact.value, paper, width: figure.clientWidth, words });
    const beyond = paper > curve.eps[curve.eps.length - 1];
    find("beyond").textContent = beyond && Number.isFinite(paper) ? ` The paper's eps, ${six(paper)}, is beyond the right edge.` : "";
  }

  // ---- together ----

  let pending = 0;
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
    if (hash !== null && hash !== location.hash) history.replaceState(null, "", hash);
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
    if (target.type === "radio") arrange();
    soon();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    update();
  });
  window.addEventListener("hashchange", () => {
    show(gspa.fromHash(location.hash));
    update();
  });
  async function copy(text, otherwise) {
    try {
      await navigator.clipboard.writeText(text);
      find("copied").textContent = "Copied.";
    } catch {
      find("copied").textContent = otherwise;
    }
  }
  find("copy").addEventListener("click", () => copy(location.href, "Copy the address of this page: it holds the setting."));
  for (const button of result.querySelectorAll("[data-copies]")) {
    button.addEventListener("click", () => {
      const text = find(button.dataset.copies);
      getSelection().selectAllChildren(text);
      copy(text.textContent, "It is selected: copy it.");
    });
  }
  new ResizeObserver(drawCurve).observe(find("figure"));

  find("without").hidden = true;
  form.hidden = false;
  show(gspa.fromHash(location.hash));
  update();
})();
