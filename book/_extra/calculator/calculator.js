// The page: fields and sliders tied together, the work in a worker, the answer, the address that keeps the setting.
"use strict";
(function () {
  const parts = self.gspaParts, gspa = {};
  parts.forEach((part) => part(gspa));
  const form = document.getElementById("calc"), result = document.getElementById("calc-result");
  const shown = [document.getElementById("calc-answer"), result];
  const mark = (name, on) => shown.forEach((part) => part.classList.toggle(name, on));
  const find = (id) => document.getElementById(`calc-${id}`);
  const NUMBERS = Object.keys(gspa.RANGES), TEXTS = [...NUMBERS, "mechanism", "kind", "list", "matrix"];
  const WAIT = 150; // ms after the last change until the answer is looked for

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
    const now = { budgets: form.elements.budgets.value, asks: form.elements.asks.value };
    for (const name of TEXTS) now[name] = find(name).value;
    return now;
  }

  function show(values) {
    for (const name of ["budgets", "asks"]) form.elements[name].value = values[name];
    for (const name of TEXTS) find(name).value = values[name]; // of a mechanism that is none, none
    NUMBERS.forEach(setSlider);
    arrange();
  }

  // Only the fields, and their names, of what is chosen.
  function arrange() {
    const now = texts(), used = gspa.usedIn(now);
    for (const row of form.querySelectorAll(".calc-row")) row.hidden = !used.includes(row.querySelector("input, select, textarea").id.slice(5));
    for (const word of form.querySelectorAll("[data-for]")) word.hidden = word.dataset.for !== gspa.kindOf(now);
    for (const word of form.querySelectorAll("[data-column]")) word.textContent = gspa.columnOf(now);
    find("kinds").hidden = now.mechanism === "discrete";
  }

  function complain(complaints) {
    for (const name of TEXTS) {
      const line = find(`${name}-error`), text = complaints[name] || "";
      if (line && line.dataset.said !== text) refuse(line, text);
      find(name).setAttribute("aria-invalid", String(text !== ""));
    }
  }

  // A complaint on its line; the command at its end, where it has one, can be copied.
  function refuse(line, text) {
    const [, before, command] = text.match(/^(.* )(gspa [^;]+)$/) ?? [null, text, ""];
    line.dataset.said = text;
    line.replaceChildren(before);
    if (command === "") return;
    const make = (name, given) => Object.assign(document.createElement(name), given);
    const shown = make("code", { textContent: command }), button = make("button", { type: "button", textContent: "Copy" });
    const told = make("span", { role: "status" });
    button.setAttribute("aria-label", "Copy the command line");
    button.addEventListener("click", () => copyShown(shown, told));
    line.append(shown, " ", button, " ", told);
  }

  // ---- work: in a worker made of the parts' own source, else in the page itself, which then waits ----

  let worker = null; // at the last question
  function stop() {
    worker?.terminate();
    worker = null;
  }

  function work(setting) {
    stop();
    result.setAttribute("aria-busy", "true");
    mark("calc-waiting", true);
    const inPage = () => {
      for (const piece of gspa.answer(setting)) take(setting, piece);
      take(setting, { done: true });
    };
    try {
      const mine = (worker = started(setting));
      mine.onmessage = ({ data }) => mine === worker && take(setting, data);
      mine.onerror = (event) => {
        event.preventDefault();
        if (mine === worker) inPage();
      };
    } catch {
      inPage();
    }
  }

  function started(setting) {
    const source = `"use strict"; const gspa = {}; [${parts.map(String).join(",\n")}].forEach((part) => part(gspa));
      for (const piece of gspa.answer(${JSON.stringify(setting)})) postMessage(piece);
      postMessage({ done: true });`;
    const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" })), made = new Worker(address);
    URL.revokeObjectURL(address);
    return made;
  }

  // ---- the answer ----

  const six = (value) => String(Number(value.toPrecision(6)));
  const three = (value) => String(Number(value.toPrecision(3)));
  const percent = (rate) => `${Number((100 * Number(gspa.rounded(rate, true, 4))).toPrecision(4))}%`; // rounded upwards
  const users = (count) => `${count.toLocaleString("en")} user${count === 1 ? "" : "s"}`;
  const once = (rounds) => (rounds === 1 ? "" : `, ${rounds} rounds`);
  const put = (words) => Object.entries(words).forEach(([id, text]) => (find(id).textContent = text));

  let last = null; // {setting, upper, paper, curve}
  function take(setting, piece) {
    if ("upper" in piece) showCentral(setting, piece);
    if ("found" in piece) showFound(setting, piece);
    if (piece.rates) {
      const each = gspa.RATES.map((rate, i) => `<= ${percent(piece.rates.tpr[i])} at ${100 * rate}%`).join(" and ");
      put({ rates: `true-positive rate ${each} false positives; advantage (TPR - FPR) <= ${percent(piece.rates.advantage)}` });
    }
    if (piece.each) {
      const column = gspa.columnOf(setting);
      showParts(["rates", "each", ...(last.mu === null ? [] : ["paper"])]);
      put({ each: setting.people.map((one, i) => `${column} = ${one[column]}: eps <= ${gspa.rounded(piece.each[i], true)}`).join("; ") });
    }
    if (piece.curve) {
      last.curve = piece.curve;
      drawCurve();
    }
    if (piece.done) result.removeAttribute("aria-busy");
  }

  function showParts(parts) {
    for (const part of result.querySelectorAll("[data-part]")) part.hidden = !parts.includes(part.dataset.part);
  }

  // What every answer has, and which of the other parts this one has.
  function showAnswer(setting, { method, holds, note, warnings, proved }, parts) {
    const { file, csv, command, python, bounds } = gspa.elsewhere(setting), asked = `delta = ${gspa.smallNumber(setting.delta)}${once(setting.rounds)}`;
    mark("calc-stale", false);
    mark("calc-waiting", false);
    put({
      method, holds, note: note && `. ${note[0].toUpperCase()}${note.slice(1)}.`, filename: file, csv, command, python, bounds,
      sure: `, ${proved ? "certified" : "computed"} at ${setting.target === null ? "" : `central eps = ${gspa.smallNumber(setting.target)}, `}${asked}`,
    });
    find("warnings").replaceChildren(...warnings.map((text) => Object.assign(document.createElement("li"), { textContent: text })));
    find("file").hidden = csv === "";
    find("published").hidden = bounds === "";
    showParts(parts);
    find("figure").hidden = !parts.includes("rates");
    result.hidden = false;
  }

  function showFound(setting, piece) {
    const { found, more } = piece, { n, people } = setting, column = gspa.columnOf(setting), noise = column === "sigma", factor = people.length > 1;
    last = null;
    showAnswer(setting, piece, []);
    const number = gspa.rounded(found, noise);
    const each = more || people.length > gspa.EACH ? "" : `: ${column} = ${people.map((one) => gspa.rounded(found * one[column], noise)).join(", ")}`;
    put({
      what: factor ? `All ${noise ? "noise" : "budgets"} times` : noise ? "Noise of" : "Local",
      upper: more ? `${factor ? "any factor" : "any eps"} up to ${number}, the largest looked at` : factor ? `${noise ? "at least" : "at most"} ${number}` : noise ? `sigma >= ${number}` : `eps <= ${number}`,
      people: factor ? `${users(n)} in ${people.length.toLocaleString("en")} groups${each}` : `${users(n)}, ${noise ? "the same noise" : "one local eps"} for all`,
    });
  }

  function showCentral(setting, piece) {
    const { upper, mu, paper } = piece, { people, rounds, n, mechanism } = setting, column = gspa.columnOf(setting), known = mu !== null;
    last = { setting, upper, paper: paper ?? Infinity, mu, curve: null };
    const some = Number.isFinite(upper);
    showAnswer(setting, piece, known ? ["rates", "paper"] : some ? ["rates"] : []);
    const [first, top] = [people[0], people[people.length - 1]], without = column === "eps" && top ? `; without shuffling, the central eps is ${six(top.eps * rounds)}` : "";
    put({
      what: some ? "Central" : "No central", upper: some ? `eps <= ${gspa.rounded(upper, true)}` : "eps holds", rates: "...",
      people: !top ? users(n) : people.length > 1 ? `${users(n)}, ${column} from ${first[column]} to ${top[column]}${without}`
        : column === "eps" ? `${users(n)} at local eps = ${top.eps}${without}` : `${users(n)} with noise of standard deviation ${top.sigma} on values in [0, ${setting.own.sensitivity}]`,
      mu: !known ? "" : Number.isFinite(mu) ? six(mu) : "none: nobody is left to hide among",
      paper: !known ? "" : Number.isFinite(paper) ? six(paper) : "none",
      verdict: known ? verdict(piece, mechanism) : "",
    });
  }

  function verdict({ upper, paper, refuted }, mechanism) {
    if (!Number.isFinite(paper)) return "";
    if (mechanism === "common") return "It is not established for any one randomizer.";
    if (refuted) return `It is only ${three(paper / upper)} of the certified one: more than can be promised.`;
    return upper === 0 ? "The certified one is 0." : `It is ${three(paper / upper)} times the certified one.`;
  }

  function drawCurve() {
    if (!last || !last.curve) return;
    const { setting, upper, paper, curve } = last, { delta, rounds } = setting, figure = find("figure");
    const words = `delta against central eps${once(rounds)}. At delta = ${gspa.smallNumber(delta)} the certified curve is at eps <= ${gspa.rounded(upper, true)}` +
      (Number.isFinite(paper) ? `, the paper's Gaussian at eps = ${six(paper)}.` : ".");
    gspaChart.draw(find("curve"), curve, { delta, exact: upper, paper, width: figure.clientWidth, words });
    const beyond = paper > curve.eps[curve.eps.length - 1];
    put({ beyond: beyond && Number.isFinite(paper) ? ` The paper's eps, ${six(paper)}, is beyond the right edge.` : "" });
  }

  // ---- together ----

  let pending = 0;
  function update() {
    const now = texts(), { setting, complaints } = gspa.read(now), hash = gspa.toHash(now);
    complain(complaints);
    find("copy").disabled = hash === null || !setting;
    find("copied").textContent = hash === null ? "The list is too long for a link." : "";
    if (!setting) {
      stop(); // what is being computed is no longer asked for
      result.removeAttribute("aria-busy");
      mark("calc-waiting", false);
      mark("calc-stale", true);
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
    if (target.type === "radio" || target.id === "calc-mechanism") arrange();
    soon();
  });
  // A key moves a slider on until its number is another one: its steps are finer than the digits.
  form.addEventListener("keydown", (event) => {
    const { target: slider, key } = event, way = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[key];
    if (slider.type !== "range" || !way) return;
    event.preventDefault();
    const name = slider.id.slice(5, -7), step = way * Number(slider.step), from = fromSlider(name, Number(slider.value));
    let at = Number(slider.value);
    do at += step;
    while (fromSlider(name, at) === from && at > Number(slider.min) && at < Number(slider.max));
    slider.value = at;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    update();
  });
  window.addEventListener("hashchange", () => {
    show(gspa.fromHash(location.hash));
    update();
  });
  async function copy(text, otherwise, told = find("copied")) {
    try {
      await navigator.clipboard.writeText(text);
      told.textContent = "Copied.";
    } catch {
      told.textContent = otherwise;
    }
  }
  function copyShown(shown, told) {
    getSelection().selectAllChildren(shown);
    copy(shown.textContent, "It is selected: copy it.", told);
  }
  find("copy").addEventListener("click", () => copy(location.href, "Copy the address of this page: it holds the setting."));
  for (const button of result.querySelectorAll("[data-copies]")) {
    button.addEventListener("click", () => copyShown(find(button.dataset.copies)));
  }
  new ResizeObserver(drawCurve).observe(find("figure"));

  find("without").hidden = true;
  form.hidden = shown[0].hidden = false;
  show(gspa.fromHash(location.hash));
  update();
})();
