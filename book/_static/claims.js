// Search and filters of the claims page. Without this script the page lists everything, with anchors by paper and
// verdict. The state is in the address: #claims-gspa-refuted (the anchors) or #paper=gspa&verdict=refuted&q=tanh.
(function () {
  "use strict";
  var GREEK = {
    α: "alpha", β: "beta", γ: "gamma", δ: "delta", ε: "eps", η: "eta", θ: "theta", λ: "lambda", μ: "mu", ν: "nu",
    π: "pi", ρ: "rho", σ: "sigma", τ: "tau", φ: "phi", χ: "chi", ω: "omega"
  };

  // Text as the keyboard has it, so that eps_0, ε0, ε₀ and \epsilon_0 find each other, and 1e-6 finds a power of ten.
  function plain(text) {
    return text.normalize("NFKC").toLowerCase()
      .replace(/\\leq?\b/g, "<=").replace(/\\geq?\b/g, ">=").replace(/\\times\b/g, "×")
      .replace(/\\(?:(?:left|right)\b)?/g, "")
      .replace(/[α-ω]/g, function (letter) { return GREEK[letter] || letter; })
      .replace(/epsilon/g, "eps")
      .replace(/(\d+(?:\.\d+)?)e([+-]?)0*(\d+)/g, function (all, digits, sign, power) {
        return (digits === "1" ? "" : digits + "x") + "10" + (sign === "-" ? "-" : "") + power;
      })
      .replace(/\s*×\s*/g, "x").replace(/[−–]/g, "-").replace(/≤/g, "<=").replace(/≥/g, ">=")
      .replace(/√/g, "sqrt").replace(/∑/g, "sum").replace(/[_^{}()]/g, "");
  }

  // On the search page: the claims that have the words, before the pages. The whole phrase comes first, and first of all
  // where it is the claim's place in the paper: "Theorem 3".
  function find(query) {
    var phrase = plain(query.trim());
    // A word finds its other forms: "clipping" what says "clip".
    var words = phrase.split(/\s+/).filter(Boolean).map(function (word) { return word.replace(/(?:(.)\1ing|ing|ed|s)$/, "$1"); });
    var whole = new RegExp("(^|[^\\w.])" + phrase.replace(/[.*+?^${}()|[\]\\]/g, "\\$&") + "(?![\\w.]*\\w)");
    return words.length === 0 ? [] : GSPA_CLAIMS.map(function (claim) {
      var head = plain(claim.place + " " + claim.title);
      var all = head + " " + plain(claim.id + " " + claim.words);
      var rank = whole.test(plain(claim.place)) ? 0 : whole.test(head) ? 1 : whole.test(all) ? 2 :
        words.every(function (word) { return all.indexOf(word) >= 0; }) ? 3 : 4;
      return { claim: claim, rank: rank };
    }).filter(function (one) { return one.rank < 4; }).sort(function (a, b) { return a.rank - b.rank; });
  }

  function list(query) {
    var found = find(query);
    if (found.length === 0) return;
    var best = found.slice(0, 10);
    var items = best.map(function (one) {
      var link = document.createElement("a");
      link.href = one.claim.url;
      link.textContent = one.claim.title;
      var item = document.createElement("li");
      item.append(link, " " + one.claim.place + ": " + one.claim.verdict);
      return item;
    });
    var box = document.createElement("section");
    var head = document.createElement("h2");
    head.textContent = found.length === 1 ? "1 claim" : found.length + " claims" +
      (best.length < found.length ? ", the nearest first" : "");
    var shown = document.createElement("ul");
    shown.append.apply(shown, items);
    box.className = "gspa-found";
    box.append(head, shown);
    document.getElementById("search-results").before(box);
  }

  document.addEventListener("DOMContentLoaded", function () {
    if (typeof GSPA_CLAIMS !== "undefined") list(new URLSearchParams(location.search).get("q") || "");
  });

  var form = document.getElementById("gspa-filter");
  if (!form) return;
  var rows = Array.prototype.map.call(document.querySelectorAll(".gspa-registry tr[id]"), function (row) {
    return { row: row, data: row.dataset, text: plain(row.textContent) };
  });
  var status = form.querySelector("[role=status]");
  var names = ["paper", "verdict", "kind"];

  function state() {
    var found = { q: form.q.value.trim() };
    names.forEach(function (name) { found[name] = form[name].value; });
    return found;
  }

  function show() {
    var wanted = state();
    var phrase = /^"(.+)"$/.exec(wanted.q); // in quotation marks: as it stands
    var words = phrase ? [plain(phrase[1])] : plain(wanted.q).split(/\s+/).filter(Boolean);
    var shown = 0;
    rows.forEach(function (one) {
      var fits = names.every(function (name) { return !wanted[name] || one.data[name] === wanted[name]; }) &&
        words.every(function (word) { return one.text.indexOf(word) >= 0; });
      one.row.hidden = !fits;
      shown += fits ? 1 : 0;
    });
    // A section without a shown claim goes with its heading; the inner ones come last in the document.
    var sections = Array.prototype.slice.call(document.querySelectorAll("article section section"));
    sections.reverse().forEach(function (section) {
      if (section.querySelector(".gspa-registry")) {
        section.hidden = !section.querySelector(".gspa-registry tr[id]:not([hidden])");
      }
    });
    status.textContent = shown === rows.length ? "All " + shown + " claims" : shown + " of " + rows.length + " claims";
    return wanted;
  }

  function remember() {
    var wanted = show();
    var parts = names.concat("q").filter(function (name) { return wanted[name]; }).map(function (name) {
      return name + "=" + encodeURIComponent(wanted[name]);
    });
    try {
      history.replaceState(null, "", "#" + parts.join("&"));
    } catch (error) { /* some browsers keep the address of a file as it is; the filter works without */ }
  }

  function set(wanted) {
    names.concat("q").forEach(function (name) { form[name].value = wanted[name] || ""; });
    names.forEach(function (name) { if (form[name].selectedIndex < 0) form[name].value = ""; }); // no such choice
    show();
  }

  function decode(text) {
    try {
      return decodeURIComponent(text);
    } catch (error) { // an address cut short
      return text;
    }
  }

  function choices(name) {
    return Array.prototype.map.call(form[name].options, function (option) { return option.value; }).filter(Boolean);
  }

  // What an anchor asks for: claims-gspa, claims-refuted, claims-gspa-refuted, or a list of name=value.
  function read(hash) {
    var wanted = {};
    if (hash.indexOf("claims-") === 0) {
      var rest = hash.slice("claims-".length);
      choices("paper").forEach(function (paper) {
        if (rest === paper || rest.indexOf(paper + "-") === 0) {
          wanted.paper = paper;
          rest = rest.slice(paper.length + 1);
        }
      });
      if (choices("verdict").indexOf(rest) >= 0) wanted.verdict = rest;
    } else if (/^(paper|verdict|kind|q)=/.test(hash)) {
      hash.split("&").forEach(function (pair) {
        var at = pair.indexOf("=");
        wanted[pair.slice(0, at)] = decode(pair.slice(at + 1));
      });
    }
    return wanted;
  }

  // The browser itself scrolls to an anchor; only a claim that was hidden a moment ago needs help.
  function follow() {
    var hash = location.hash.slice(1);
    set(read(hash));
    var target = document.getElementById(decode(hash));
    if (target && target.getClientRects().length) target.scrollIntoView();
    else if (hash) form.scrollIntoView({ block: "center" });
  }

  form.hidden = false;
  document.getElementById("gspa-index").hidden = true; // the form does more
  form.addEventListener("submit", function (event) { event.preventDefault(); });
  form.addEventListener("input", remember);
  form.addEventListener("reset", function () { setTimeout(remember, 0); }); // the fields are empty only afterwards
  window.addEventListener("hashchange", follow);
  follow();
})();
