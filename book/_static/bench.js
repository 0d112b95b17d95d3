// "Change the numbers" of a notebook's page, and the page "My runs". Without `gspa serve` the form fills in a command
// line to copy; with it, and the token that its address brought, the form runs the page and shows what moved.
(() => {
  "use strict";
  const token = (() => {
    try { return localStorage.getItem("gspa-bench"); } catch { return null; } // a browser that stores nothing
  })();
  const EVERY = 150; // milliseconds between two questions to the server
  const made = (tag, parts, ...inside) => {
    const one = Object.assign(document.createElement(tag), parts);
    one.append(...inside);
    return one;
  };
  const link = (text, href) => made("a", { href }, text);

  async function ask(path, method = "GET", body) {
    let answer;
    try {
      answer = await fetch(`/bench/${path}`, { method, headers: { "X-Gspa-Token": token }, body: body && JSON.stringify(body) });
    } catch {
      throw Error("The server does not answer. Start gspa serve again, and open the address that it prints.");
    }
    if (!answer.ok) throw Error((await answer.text()).trim());
    return answer.json();
  }

  const SAID = { queued: "waits for its turn.", running: "has begun.", rendering: "has its numbers. Its page is being made.",
    done: "is done.", failed: "has failed.", stopped: "was stopped." };
  const WORDS = { queued: "waits for its turn", running: "is running", rendering: "has its numbers; its page is being made",
    done: "is done", failed: "has failed", stopped: "was stopped" };
  const working = (run) => ["queued", "running", "rendering"].includes(run.state);
  const asked = (run) => run.changed.map((one) => `${one.name} = ${one.value}`).join(", ") || "the defaults";
  const page = (run) => `${run.at}/page/notebooks/${run.notebook}.html#gspa-moved`;
  const results = (run) => {
    const found = [link("Open the page", page(run)), " · "];
    for (const file of ["notebook", "html", "csv"]) found.push(link(file === "notebook" ? file : file.toUpperCase(), `${run.at}/${file}`), " ");
    return found;
  };
  // A number is a quotation's worth only where a shell would read more than a word.
  const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`);

  function copying(button, code) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "Copied";
      } catch { // no clipboard here: select it, so that a key copies it
        getSelection().selectAllChildren(code);
        button.textContent = "Selected";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
  }

  function panel(box) {
    const { notebook, profile: site } = box.dataset;
    const ordered = JSON.parse(box.dataset.ordered);
    const form = box.querySelector("form");
    const fields = [...form.querySelectorAll("input, select")];
    const field = (name) => fields.find((one) => one.name === name);
    const value = (one) => (one.type === "checkbox" ? String(one.checked) : one.value.trim());
    const put = (one, text) => { if (one.type === "checkbox") one.checked = text === "true"; else one.value = text; };
    const said = box.querySelector("[data-bench-said]");
    const say = (text) => { said.textContent = text; };
    let profile = site;
    const usual = (one) => one.dataset[profile];
    const same = (one) => value(one) === usual(one) || (one.type === "number" && one.value !== "" && Number(one.value) === Number(usual(one)));
    const changed = () => fields.filter((one) => one.name !== "profile" && !same(one));
    const given = () => Object.fromEntries([["profile", profile], ...changed().map((one) => [one.name, value(one)])]);

    // What the schema says and a number's input does not: an open end, a list, an order.
    function fault(one) {
      const { minimum, maximum, exclusiveminimum: above, exclusivemaximum: below, minitems, maxitems, uniqueitems, list } = one.dataset;
      if (one.type === "checkbox" || one.tagName === "SELECT") return "";
      const parts = list ? value(one).replace(/^\[(.*)\]$/, "$1").split(",").map((part) => part.trim()) : [value(one)];
      if (list && (parts.length < Number(minitems ?? 0) || parts.length > Number(maxitems ?? Infinity)))
        return maxitems ? `Give ${minitems ?? 0} to ${maxitems} values with commas between them.`
          : `Give at least ${minitems === "1" ? "1 value" : `${minitems} values`}, with commas between them.`;
      if (list && uniqueitems && new Set(parts.map(Number)).size < parts.length) return "Give each value once.";
      for (const part of parts) {
        const number = Number(part);
        if (part === "" || !Number.isFinite(number)) return list ? "Give numbers with commas between them." : "";
        if (list === "integer" && !Number.isInteger(number)) return `Give whole numbers; ${part} is none.`;
        if (number <= Number(above ?? -Infinity)) return `Give more than ${above}.`;
        if (number >= Number(below ?? Infinity)) return `Give less than ${below}.`;
        if (number < Number(minimum ?? -Infinity)) return `Give at least ${minimum}.`;
        if (number > Number(maximum ?? Infinity)) return `Give at most ${maximum}.`;
      }
      for (const [low, high] of ordered)
        if (one.name === low && Number(value(one)) > Number(value(field(high)))) return `Give at most ${high}, which is ${value(field(high))}.`;
      return "";
    }

    function shown() {
      for (const one of fields) {
        one.setCustomValidity(fault(one));
        const off = one.name !== "profile" && !same(one);
        one.closest(".gspa-field").classList.toggle("gspa-changed", off);
        const was = one.closest(".gspa-field").querySelector("[data-bench-was]");
        was.textContent = off ? `Changed; was ${usual(one)}.` : `Default ${usual(one)}.`;
      }
      const words = ["gspa", "run", notebook, ...(profile === "paper" ? [] : ["--profile", profile])];
      for (const one of changed()) words.push("-p", one.name, quoted(value(one)));
      form.querySelector("[data-bench-command]").textContent = words.join(" ");
    }

    function follow(next) { // the profile's other defaults
      for (const one of fields) if (one.name !== "profile" && same(one)) put(one, one.dataset[next]);
      profile = next;
      field("profile").value = next;
    }
    function enter(values) {
      if (values.profile && [...field("profile").options].some((one) => one.value === values.profile)) follow(values.profile);
      for (const [name, text] of Object.entries(values)) if (name !== "profile" && field(name)) put(field(name), text);
      shown();
    }

    form.addEventListener("input", (event) => {
      if (event.target.name === "profile") follow(event.target.value);
      shown();
    });
    form.addEventListener("reset", () => setTimeout(() => { follow(site); for (const one of fields) put(one, usual(one)); shown(); }));
    copying(form.querySelector("[data-bench-copy]"), form.querySelector("[data-bench-command]"));
    form.addEventListener("submit", (event) => event.preventDefault());
    box.querySelector("[data-bench-reset]").hidden = false;

    // A link may bring values: PAGE.html?n_max=3000#bench; the page of a run brings the run's own.
    const own = document.getElementById("gspa-run");
    const linked = Object.fromEntries(new URLSearchParams(location.search));
    if (own) enter(JSON.parse(own.textContent).values);
    else enter(linked);
    const opened = () => {
      if (location.hash !== "#bench") return;
      box.open = true;
      box.scrollIntoView();
    };
    if (location.hash === "#bench" || (!own && changed().length)) box.open = true;
    opened();
    window.addEventListener("hashchange", opened);
    document.addEventListener("click", (event) => event.target.closest?.('a[href="#bench"]') && setTimeout(opened));
    const record = (window.gspaBuildRecord?.notebooks ?? []).find((one) => one.name === notebook);
    if (record?.seconds) {
      const time = box.querySelector("[data-bench-time]");
      time.hidden = false;
      time.textContent = `With the site's own numbers (profile ${window.gspaBuildRecord.profile}) the page ran ${record.seconds.toFixed(1)} seconds.`;
    }
    if (!token) return;

    box.querySelector("[data-bench-runs]").href = "/runs.html";
    const list = box.querySelector("[data-bench-under-way]");
    const result = box.querySelector("[data-bench-result]");
    const rows = new Map();

    function row(run) {
      if (!rows.has(run.id)) {
        const bar = made("progress", {});
        const word = made("span", {});
        const stop = made("button", { type: "button" }, "Stop");
        const item = made("li", {}, made("span", {}, `The run with ${asked(run)} `), word, " ", bar, " ", stop);
        bar.setAttribute("aria-label", `Progress of ${asked(run)}`);
        stop.setAttribute("aria-label", `Stop the run with ${asked(run)}`);
        stop.addEventListener("click", () => ask(`runs/${run.id}`, "DELETE").catch((error) => say(error.message)));
        list.append(item);
        rows.set(run.id, { bar, word, stop, item });
      }
      const { bar, word, stop, item } = rows.get(run.id);
      const of = run.cells ? `: ${run.done} of ${run.cells} cells` : "";
      word.textContent = WORDS[run.state] + (run.state === "running" ? of : "") + (run.reason ? `. ${run.reason}` : "");
      if (run.state === "running" && run.cells) { bar.max = run.cells; bar.value = run.done; } else bar.removeAttribute("value");
      stop.hidden = !["queued", "running"].includes(run.state);
      if (!working(run)) {
        bar.remove();
        if (run.state === "done") item.append(...results(run));
      }
      return run.state;
    }

    async function watch(run, mine) {
      let before = "";
      for (;;) {
        const state = row(run);
        if (state !== before) say(`The run ${SAID[state]}`);
        before = state;
        if (run.moved && result.dataset.of !== run.id && (mine || !working(run))) {
          result.dataset.of = run.id;
          result.replaceChildren(made("h3", {}, `What moved with ${asked(run)}`), made("div", { innerHTML: run.moved }));
          window.MathJax?.typesetPromise?.([result]);
        }
        if (!working(run)) break;
        await new Promise((ready) => setTimeout(ready, EVERY));
        run = await ask(`runs/${run.id}`);
      }
      return run;
    }

    async function start(event, wanted) {
      const refusal = event.target.querySelector(".gspa-refusal");
      refusal.hidden = true;
      try {
        const run = await ask("runs", "POST", wanted);
        rows.get(run.id)?.item.remove();
        rows.delete(run.id);
        delete result.dataset.of;
        const done = await watch(working(run) ? run : await ask(`runs/${run.id}`), true);
        const alone = ![...rows.values()].some((one) => one.stop.isConnected && !one.stop.hidden);
        if (done.state === "done" && alone) location.assign(page(done));
      } catch (error) {
        refusal.hidden = false;
        refusal.textContent = error.message;
        say("");
      }
    }
    form.addEventListener("submit", (event) => start(event, { notebook, parameters: given() }));
    // What was under way when the page was left, or in another tab.
    ask("runs").then(({ runs }) => {
      box.querySelector("[data-bench-how]").textContent = "The page runs on this machine, with the numbers that you put here.";
      for (const one of box.querySelectorAll("[data-bench-run], [data-bench-runs]")) one.hidden = false;
      const found = runs.filter((run) => run.notebook === notebook && working(run)).reverse();
      if (found.length) box.open = true;
      return Promise.all(found.map((run) => watch(run, true)));
    }).catch((error) => say(error.message));
  }

  async function listed(place) {
    const none = made("p", {}, "There are no runs yet. Open a page with results and change its numbers.");
    const told = made("p", { role: "status" });
    const list = made("ol", { className: "gspa-runs" });
    const drawn = new Map(); // an item is made anew only when its run has changed, so that a key's focus stays
    function item(run) {
      const code = made("code", {}, run.command);
      const copy = made("button", { type: "button" }, "Copy");
      copy.setAttribute("aria-label", `Copy the command of ${run.title} with ${asked(run)}`);
      copying(copy, code);
      const state = run.state === "running" && run.cells ? `is running: ${run.done} of ${run.cells}` : WORDS[run.state];
      const after = run.seconds ? `, after ${run.seconds.toFixed(1)} seconds` : "";
      const when = run.finished ? `, ${new Date(run.finished * 1000).toLocaleString()}${after}` : "";
      const about = made("p", {}, `The run ${state}${when}. ${run.reason}`);
      if (run.state === "done") about.append(...results(run), " · ");
      about.append(link("The same numbers again", run.link));
      if (["queued", "running"].includes(run.state)) {
        const stop = made("button", { type: "button" }, "Stop");
        stop.setAttribute("aria-label", `Stop ${run.title} with ${asked(run)}`);
        stop.addEventListener("click", () => ask(`runs/${run.id}`, "DELETE").catch((error) => { told.textContent = error.message; }));
        about.append(" ", stop);
      }
      return made("li", {}, made("h2", {}, run.title), made("p", {}, made("strong", {}, asked(run)), ` (profile ${run.profile})`),
        about, made("p", { className: "gspa-command" }, code, " ", copy));
    }
    for (;;) {
      const { runs } = await ask("runs");
      const items = runs.map((run) => {
        const text = JSON.stringify(run);
        const old = drawn.get(run.id);
        if (old?.text === text) return old.made;
        const label = old?.made.contains(document.activeElement) && document.activeElement.getAttribute("aria-label");
        const fresh = item(run);
        if (old) old.made.replaceWith(fresh);
        if (label) [...fresh.querySelectorAll("button")].find((one) => one.getAttribute("aria-label") === label)?.focus();
        drawn.set(run.id, { text, made: fresh });
        return fresh;
      });
      if (items.length !== list.children.length || items.some((one, i) => one !== list.children[i])) list.replaceChildren(...items);
      const shown = items.length ? list : none;
      if (!shown.isConnected) place.replaceChildren(shown, told);
      await new Promise((ready) => setTimeout(ready, runs.some(working) ? 500 : 3000));
    }
  }

  document.addEventListener("DOMContentLoaded", () => {
    for (const box of document.querySelectorAll("details.gspa-bench")) panel(box);
    const place = document.getElementById("gspa-runs");
    if (place && token) listed(place).catch((error) => place.replaceChildren(made("p", { role: "alert" }, error.message)));
  });
})();
