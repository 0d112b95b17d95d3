// Search of the claims, on their page and on the search page. Without this script the claims page lists everything.
// Its state is in the address: #claims-gspa-refuted or #paper=gspa&verdict=refuted&q=tanh; #G-T2 opens one claim.
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

  // The claims that have the words, the nearest first: those whose place in the paper the phrase is or begins
  // ("Theorem 2"), those with the phrase in place or title, those with it elsewhere, those with its words anywhere.
  function find(query) {
    var quoted = /^"(.+)"$/.exec(query.trim()); // in quotation marks: as it stands
    var phrase = plain(quoted ? quoted[1] : query.trim());
    // A word finds its other forms: "clipping" what says "clip".
    var words = quoted ? [phrase] : phrase.split(/\s+/).filter(Boolean).map(function (word) {
      return word.replace(/(?:(.)\1ing|ing|ed|s)$/, "$1");
    });
    var whole = new RegExp("(^|[^\\w.])" + phrase.replace(/[.*+?^${}()|[\]\\]/g, "\\$&") + "(?![\\w.]*\\w)");
    return words.length === 0 ? [] : GSPA_CLAIMS.map(function (claim) {
      var place = plain(claim.place);
      var head = plain(claim.paper) + " " + place + " " + plain(claim.title);
      var all = head + " " + plain(claim.id + " " + claim.words);
      var at = whole.exec(place);
      var rank = place === phrase ? 0 : at && at.index === 0 ? 1 : at ? 2 : whole.test(head) ? 3 : whole.test(all) ? 4 :
        words.every(function (word) { return all.indexOf(word) >= 0; }) ? 5 : 6;
      return { claim: claim, rank: rank };
    }).filter(function (one) { return one.rank < 6; }).sort(function (a, b) { return a.rank - b.rank; });
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
      item.append(link, " " + one.claim.paper + ", " + one.claim.place + ": " + one.claim.verdict);
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

  var form = document.getElementById("gspa-filter");
  if (!form) {
    document.addEventListener("DOMContentLoaded", function () {
      if (typeof GSPA_CLAIMS !== "undefined") list(new URLSearchParams(location.search).get("q") || "");
    });
    return;
  }
  var rows = Array.prototype.slice.call(document.querySelectorAll(".gspa-claim"));
  var lists = rows.map(function (row) { return row.parentNode; });
  var status = form.querySelector("[role=status]");
  var names = ["paper", "verdict"];
  // What a search finds stands in one list, the nearest first; without words each claim is back under its paper.
  var nearest = document.createElement("div");
  nearest.className = "gspa-registry";
  form.after(nearest);

  function state() {
    var found = { q: form.q.value.trim() };
    names.forEach(function (name) { found[name] = form[name].value; });
    return found;
  }

  function show() {
    var wanted = state();
    var found = wanted.q ? find(wanted.q).map(function (one) { return document.getElementById(one.claim.id); }) : rows;
    var fits = found.filter(function (row) {
      return names.every(function (name) { return !wanted[name] || row.dataset[name] === wanted[name]; });
    });
    rows.forEach(function (row, i) {
      row.hidden = fits.indexOf(row) < 0;
      if (!wanted.q) lists[i].append(row); // all of them: in their own order
    });
    if (wanted.q) nearest.append.apply(nearest, fits);
    // A paper without a shown claim goes with its heading.
    lists.forEach(function (one) {
      one.closest("section").hidden = !one.querySelector(".gspa-claim:not([hidden])");
    });
    status.textContent = fits.length === rows.length ? "All " + rows.length + " claims" : fits.length + " of " + rows.length + " claims";
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
    } else if (/^(paper|verdict|q)=/.test(hash)) {
      hash.split("&").forEach(function (pair) {
        var at = pair.indexOf("=");
        wanted[pair.slice(0, at)] = decode(pair.slice(at + 1));
      });
    }
    return wanted;
  }

  function follow() {
    var hash = location.hash.slice(1);
    set(read(hash));
    var target = document.getElementById(decode(hash));
    if (target && rows.indexOf(target) >= 0) target.open = true;
    if (target && target.getClientRects().length) target.scrollIntoView();
    else if (hash) form.scrollIntoView({ block: "center" });
  }

  // What a row unfolds to is a script of its own, which a page opened from disk may load, too.
  function fetchRow(row) {
    if (!row.open || row.dataset.asked) return;
    row.dataset.asked = "yes";
    var script = document.createElement("script");
    script.src = "claims/" + row.id + ".js";
    document.head.append(script);
  }

  window.gspaClaim = function (id, html) {
    var row = document.getElementById(id);
    var card = document.createElement("div");
    card.className = "gspa-card";
    card.innerHTML = html;
    row.querySelector("p").replaceWith(card);
    if (window.MathJax && MathJax.typesetPromise) MathJax.typesetPromise([card]);
  };

  rows.forEach(function (row) {
    row.addEventListener("toggle", function () { fetchRow(row); });
  });
  form.hidden = false;
  form.addEventListener("submit", function (event) { event.preventDefault(); });
  form.addEventListener("input", remember);
  form.addEventListener("reset", function () { setTimeout(remember, 0); }); // the fields are empty only afterwards
  window.addEventListener("hashchange", follow);
  follow();
})();
