// A setting of the calculator: read from what was typed, kept in the address, answered, and written as a command and a call.
"use strict";
(self.gspaParts = self.gspaParts || []).push(function (gspa) {
  const MOST_USERS = 1e9, MOST_LINES = 1e5, LONGEST = 4000; // characters of an address
  const POINTS = 60; // of the curve
  const FEWER = 6000, FEWEST = 500; // pairs of blocks for k-RR, in the curve and in a search: wider, and faster
  const MOST_LOCAL = 600; // the largest local eps that is tried for a target
  const RATES = [0.01, 0.001]; // false-positive rates
  const PAPERS = ["rr", "aligned", "common"], BOUNDED = ["rr", "common"]; // where the paper's mu, and published bounds, are shown
  const INLINE = 20; // groups that a Python call lists; more are read from the file
  const START = {
    mechanism: "rr", budgets: "one", n: "10000", eps: "0.5", n2: "1000", eps2: "1", list: "0.1,5400\n0.5,3700\n1,900",
    delta: "1e-4", rounds: "1", k: "10", sigma: "1", sensitivity: "1", target_eps: "0.1", asks: "epsilon",
  };
  const USERS = { low: 1, high: MOST_USERS, whole: true }, EPS = { low: 1e-3, high: 20 };
  const RANGES = {
    n: USERS, eps: EPS, n2: USERS, eps2: EPS, delta: { low: 1e-12, high: 0.1 }, rounds: { low: 1, high: 1000, whole: true },
    k: { low: 2, high: 1000, whole: true }, sigma: { low: 1e-6, high: 1e6 }, sensitivity: { low: 1e-6, high: 1e6 },
    target_eps: { low: 1e-4, high: 20 },
  };
  const FIELDS = { one: ["n", "eps"], two: ["n", "eps", "n2", "eps2"], list: [] }; // of numbers, in each way to say who reports
  // What a field is called: an argument, or a column of the budgets.
  const NAMES = {
    one: {}, list: {},
    two: { eps: "group 1, column eps", n: "group 1, column count", eps2: "group 2, column eps", n2: "group 2, column count" },
  };
  // What there is, with the arguments of its own; whether one user's reports are composed over rounds here, a local eps
  // is found for a central one, and own budgets are possible.
  const MECHANISMS = {
    rr: { own: [], rounds: true, inverse: true, groups: true },
    aligned: { own: [], rounds: true, inverse: true, groups: true },
    common: { own: [], rounds: true, inverse: true, groups: true },
    krr: { own: ["k"], rounds: false, inverse: true, groups: true },
    laplace: { own: [], rounds: false, inverse: false, groups: false },
    gaussian: { own: ["sigma", "sensitivity"], rounds: false, inverse: false, groups: false },
  };
  // As the package words them.
  const PURE = "; a user with delta_j > 0 is pure with probability 1 - delta_j and arbitrary otherwise";
  const ALIGNED = "any randomizers with aligned clones: own eps_j each, R_j >= (Q_0 + Q_1)/(1 + e^{eps_j}) for the parts Q_0, Q_1 of " +
    "the victim's randomizer";
  const line = (kind, width) => `${kind} reports of values in [0, ${width}], own noise scale each, any values of the others`;
  const VALID_FOR = {
    exact: () => "binary randomized response, own eps_j each",
    rr: () => `binary randomized response, own eps_j each${PURE}`,
    aligned: () => ALIGNED + PURE,
    common: () => "any eps0-LDP randomizer, the same for all users",
    krr: ({ k }) => `${k}-ary randomized response, own eps_j each${PURE}`,
    laplace: () => line("Laplace", 1),
    gaussian: ({ sensitivity }) => line("Gaussian", sensitivity),
  };
  const METHODS = {
    exact: "exact law of the number of ones, worst of all inputs",
    pair: "dominating pair, certified sum over the number of clones",
    law: "reports hidden among draws from one common law",
    often: "composition of dominating pairs, Fourier transform on a grid from both sides",
    line: "privacy blanket",
  };
  const NOTES = {
    many: "the dominating pair, because the exact law is evaluated up to 65,536 choices of the others' inputs",
    often: "the dominating pair, because rounds compose pairs, not the exact law",
  };
  // Gaussian reports for which the lean search here stays within a hundredth of the package's.
  const GAUSSIAN = { sigma: 0.6, delta: 1e-3, n: 10 };
  const smallNumber = (value) => (value > 0 && value < 1e-3 ? value.toExponential() : String(value)); // 1e-4, not 0.0001

  // The nearest decimal of so many significant digits that is not below (`up`) or not above a value, exactly: a double
  // is a whole number over a power of two. As `rounded` in gspa/accountant/bound.py, for 0 and values from 1e-300 to 1e300.
  function rounded(value, up, digits = 7) {
    if (value === 0 || !Number.isFinite(value)) return String(value);
    let whole = value, halvings = 0, places = digits - 1 - Number(value.toExponential().split("e")[1]);
    for (; !Number.isInteger(whole); halvings++) whole *= 2;
    const cut = () => { // value 10^places, rounded to a whole number
      const top = BigInt(whole) * 10n ** BigInt(Math.max(places, 0)), bottom = 2n ** BigInt(halvings) * 10n ** BigInt(Math.max(-places, 0));
      return (top + (up ? bottom - 1n : 0n)) / bottom;
    };
    if (cut() < 10n ** BigInt(digits - 1)) places++; // the shortest way to write the value is the power of ten just above it
    const near = Number(`${cut()}e${-places}`);
    return near < 1e-4 ? near.toExponential() : String(near);
  }
  // The interval's ends, rounded outwards.
  const outwards = ({ lower, upper }) => [rounded(lower, false), rounded(upper, true)];

  // What was typed as a message shows it, in quotes unless it is a number that an argument may have.
  function must(name, text, allowed) {
    const given = text.trim().length > 30 ? `${text.trim().slice(0, 30)}...` : text.trim();
    const plain = !name.includes(" ") && given !== "" && Number.isFinite(Number(given));
    return `${name} = ${plain ? given : `'${given}'`}: must be ${allowed}`;
  }

  // A rate in percent, rounded upwards to four digits.
  const percent = (rate) => `${Number((100 * Number(rounded(rate, true, 4))).toPrecision(4))}%`;

  // Digits in groups of three, as in 10,000 or 10 000 or 10_000, are read as one number.
  function plainly(text) {
    const trimmed = text.trim();
    return /^\d{1,3}([\s_,]\d{3})+(\.\d*)?$/.test(trimmed) ? trimmed.replace(/[\s_,]/g, "") : trimmed;
  }
  const inside = ({ low, high, whole }, value) => value >= low && value <= high && (!whole || Number.isInteger(value));

  // [number, complaint]; the complaint is empty if the text is a number in its range.
  function number(name, text, called = name) {
    const range = RANGES[name], value = plainly(text) === "" ? NaN : Number(plainly(text));
    const ends = [range.low, range.high].map(smallNumber);
    if (inside(range, value)) return [value, ""];
    return [NaN, must(called, text, range.whole ? `an integer from ${ends.join(" to ")}` : `a number in [${ends.join(", ")}]`)];
  }

  // Distinct eps in increasing order with their counts, from lines "eps[,count]"; a first line of names may be there.
  function readList(text) {
    const lines = text.split(/\r?\n|;/), counts = new Map();
    let users = 0, used = 0;
    for (let i = 0; i < lines.length; i++) {
      const line = lines[i].trim();
      if (line === "" || (used === 0 && /^eps\s*(,\s*count)?$/.test(line))) continue;
      const where = `budgets line ${i + 1}`, comma = line.indexOf(",");
      const parts = comma < 0 ? [line] : [line.slice(0, comma), ...plainly(line.slice(comma + 1)).split(",")];
      if (/\d\s+\d/.test(parts[0])) {
        return [[], must(where, line, `eps or eps,count; a comma is missing, as in ${parts[0].trim().replace(/\s+/, ",")}`)];
      }
      const eps = Number(parts[0]), count = parts.length > 1 ? Number(parts[1]) : 1;
      if (parts.length > 2 || parts.some((part) => part.trim() === "")) return [[], must(where, line, "eps or eps,count")];
      if (!(eps === 0 || inside(EPS, eps))) return [[], must(`${where}, column eps`, parts[0], `0 or a number in [${EPS.low}, ${EPS.high}]`)];
      if (!(count >= 1 && Number.isInteger(count))) return [[], must(`${where}, column count`, parts[1], "an integer >= 1")];
      users += count;
      used++;
      if (used > MOST_LINES) return [[], `budgets: must be at most ${MOST_LINES} lines; give equal eps a count`];
      if (users > MOST_USERS) return [[], must("sum(count)", String(users), `at most ${MOST_USERS}`)];
      counts.set(eps, (counts.get(eps) || 0) + count);
    }
    if (used === 0) return [[], must("budgets", "", "at least one line, eps or eps,count")];
    return [[...counts].sort((a, b) => a[0] - b[0]).map(([eps, count]) => ({ eps, count })), ""];
  }

  // Who reports in the form of a budgets file, without its first line.
  const linesOf = (texts) =>
    texts.budgets === "list" ? texts.list : [[texts.eps, texts.n], [texts.eps2, texts.n2]].map((pair) => pair.map(plainly).join(",")).join("\n");

  // Who reports is said by numbers, in groups or by a list; n alone says it where the noise has no eps, or eps is asked for.
  const alone = (texts) => texts.asks === "calibrate" || texts.mechanism === "gaussian";
  const kindOf = (texts) => (alone(texts) ? "one" : texts.budgets);
  const fieldsOf = (texts) => (alone(texts) ? ["n"] : FIELDS[texts.budgets]);

  // What was typed, as {setting, complaints}; the setting is null if there is a complaint.
  function read(texts) {
    const complaints = {}, values = {}, kind = kindOf(texts), names = fieldsOf(texts), inverse = texts.asks === "calibrate";
    const { mechanism } = texts, known = Object.hasOwn(MECHANISMS, mechanism) ? MECHANISMS[mechanism] : null;
    for (const name of [...names, ...(known ? known.own : []), "delta", inverse ? "target_eps" : "rounds"]) {
      const [value, complaint] = number(name, texts[name], NAMES[kind][name]);
      values[name] = value;
      if (complaint) complaints[name] = complaint;
    }
    let people = [];
    if (!alone(texts) && names.every((name) => !complaints[name])) {
      const [found, complaint] = kind === "one" ? [[{ eps: values.eps, count: values.n }], ""] : readList(linesOf(texts));
      people = found;
      if (complaint) complaints[kind === "list" ? "list" : "n2"] = complaint;
    }
    const n = alone(texts) ? values.n : people.reduce((total, { count }) => total + count, 0);
    const rounds = inverse ? 1 : values.rounds, { delta, k, sigma, sensitivity } = values;
    const setting = { mechanism, people, n, delta, rounds, k, sigma, sensitivity, target: inverse ? values.target_eps : null };
    if (!known) {
      complaints.mechanism = `mechanism: must be ${Object.keys(MECHANISMS).join(", ")} here; the command line has others, gspa epsilon --help`;
    } else if (Object.keys(complaints).length === 0) outside(setting, known, complaints);
    return { setting: Object.keys(complaints).length > 0 ? null : setting, complaints };
  }

  // What the page cannot answer, or nobody can.
  function outside(setting, known, complaints) {
    const { mechanism, people, n, delta, rounds, sigma, sensitivity, target } = setting, { command } = elsewhere(setting);
    if (mechanism === "common" && people.length > 1) {
      const [low, high] = [people[0], people[people.length - 1]].map(({ eps }) => smallNumber(Number(eps.toPrecision(6))));
      complaints.mechanism = `one common eps0-LDP randomizer: needs one eps for all users; eps runs from ${low} to ${high}, so the ` +
        "users' randomizers differ; name the family (rr, krr, subset), or give everyone the largest eps";
    } else if (people.length > 1 && !known.groups) {
      complaints.mechanism = `${mechanism}: needs one eps for all users here; with own ones in budgets.csv, ask the command line: ${command}`;
    } else if (target !== null && !known.inverse) {
      const names = Object.keys(MECHANISMS).filter((name) => MECHANISMS[name].inverse);
      complaints.mechanism = `${mechanism}: the local eps for a central one is found for ${names.join(", ")} here; ask the command line: gspa calibrate --help`;
    } else if (rounds > 1 && !known.rounds) {
      complaints.rounds = `rounds = ${rounds}: must be 1 for ${mechanism} here; ask the command line: ${command}`;
    } else if (mechanism === "gaussian") {
      const fits = { sigma: sigma >= GAUSSIAN.sigma * sensitivity, delta: delta <= GAUSSIAN.delta, n: n >= GAUSSIAN.n };
      const limits = { sigma: `at least ${GAUSSIAN.sigma} times the sensitivity`, delta: `at most ${smallNumber(GAUSSIAN.delta)}`, n: `at least ${GAUSSIAN.n}` };
      for (const name of Object.keys(fits)) {
        if (!fits[name]) complaints[name] = `${name} = ${smallNumber(setting[name])}: must be ${limits[name]} for gaussian here; ask the command line: ${command}`;
      }
    }
  }

  // The part of the address behind #: the front door's arguments by their names, the lines of the budgets divided by
  // semicolons; null if they are too long for it.
  function toHash(texts) {
    const inverse = texts.asks === "calibrate", who = kindOf(texts) === "one" ? [...fieldsOf(texts)].reverse() : ["budgets"];
    const own = Object.hasOwn(MECHANISMS, texts.mechanism) ? MECHANISMS[texts.mechanism].own : [];
    const names = [...who, ...(inverse ? ["target_eps"] : []), "delta", "mechanism", ...own, ...(inverse ? [] : ["rounds"])];
    const pairs = names.map((name) => {
      const text = name === "budgets" ? linesOf(texts).trim().replace(/\s*\r?\n\s*/g, ";") : texts[name].trim();
      return `${name}=${encodeURIComponent(text).replace(/%2C/g, ",").replace(/%3B/g, ";")}`;
    });
    const hash = `#${pairs.join("&")}`;
    return hash.length > LONGEST ? null : hash;
  }

  // What was typed, from such an address; what it does not name is as at the start. Older addresses give the kind of
  // budgets by the name of the budgets, and the second of two groups by its share of all users.
  function fromHash(hash) {
    const texts = { ...START }, given = { share: "0.1" };
    for (const pair of hash.replace(/^#/, "").split("&")) {
      const at = pair.indexOf("="), name = pair.slice(0, at);
      if (at < 1 || !(Object.hasOwn(START, name) || name === "share")) continue;
      try {
        given[name] = decodeURIComponent(pair.slice(at + 1));
      } catch {
        continue; // a broken address
      }
    }
    const { budgets = "one", share, ...rest } = given;
    Object.assign(texts, rest, { asks: Object.hasOwn(rest, "target_eps") ? "calibrate" : "epsilon" });
    texts.list = texts.list.replace(/;/g, "\n");
    if (Object.hasOwn(FIELDS, budgets)) {
      texts.budgets = budgets;
      if (budgets === "two") splitUp(texts, Number(share));
      return texts;
    }
    const lines = budgets.split(";").map((line) => line.split(","));
    const group = ([eps, n, ...more]) => n !== undefined && more.length === 0 && number("eps", eps)[1] === "" && number("n", n)[1] === "";
    if (lines.length === 2 && lines.every(group)) {
      [[texts.eps, texts.n], [texts.eps2, texts.n2]] = lines;
      texts.budgets = "two";
    } else {
      texts.list = budgets.replace(/;/g, "\n");
      texts.budgets = "list";
    }
    return texts;
  }

  // n users in two groups, neither of them empty.
  function splitUp(texts, share) {
    const [n, complaint] = number("n", texts.n);
    if (complaint || n < 2 || !(share >= 0 && share <= 1)) return;
    const some = Math.min(Math.max(Math.round(share * n), 1), n - 1);
    [texts.n, texts.n2] = [String(n - some), String(some)];
  }

  // The same question elsewhere: {csv, command, python}; csv is what budgets.csv has to hold, or empty.
  function elsewhere({ mechanism, people, n, delta, rounds, k, sigma, sensitivity, target }) {
    const one = people.length < 2, column = (name) => people.map((group) => group[name]).join(", ");
    const csv = one ? "" : ["eps,count", ...people.map((group) => `${group.eps},${group.count}`)].join("\n");
    const options = [`--delta ${smallNumber(delta)}`], keywords = [`delta=${smallNumber(delta)}`];
    const given = { k, sigma, sensitivity: sensitivity === 1 ? undefined : sensitivity };
    const own = MECHANISMS[mechanism].own.filter((name) => given[name] !== undefined);
    if (mechanism !== START.mechanism) {
      options.push(`--mechanism ${mechanism}`, ...own.map((name) => `--${name} ${given[name]}`));
      const kind = { krr: "KRR", gaussian: "Gaussian" }[mechanism];
      keywords.push(kind ? `mechanism=gspa.${kind}(${own.map((name) => `${name}=${given[name]}`).join(", ")})` : `mechanism="${mechanism}"`);
    }
    if (rounds > 1) {
      options.push(`--rounds ${rounds}`);
      keywords.push(`rounds=${rounds}`);
    }
    const listed = people.length <= INLINE, shown = { target_eps: target, eps: people.length === 1 ? people[0].eps : null, n };
    const names = Object.keys(shown).filter((name) => shown[name] !== null);
    let who = names.map((name) => `${name}=${shown[name]}`).join(", "), imports = "import gspa";
    if (!one) who = listed ? `budgets=from_array([${column("eps")}], count=[${column("count")}])` : 'budgets="budgets.csv"';
    if (!one && listed) imports += "\nfrom gspa.accountant.budgets import from_array";
    const verb = target === null ? "epsilon" : "calibrate";
    const flags = one ? names.map((name) => `--${name.replace("_", "-")} ${shown[name]}`) : ["--budgets budgets.csv"];
    return {
      csv,
      command: [`gspa ${verb}`, ...flags, ...options].join(" "),
      python: `${imports}\ngspa.${verb}(${[who, ...keywords].join(", ")})`,
    };
  }

  // What answers a setting: {method, holds, note, top, points, epsilon(delta), delta(eps), curve(eps)}; delta gives an
  // upper end, curve is a generator of them, and delta is constant from `top` on. An interval's `lower` is null where
  // only its upper end is known.
  function engineOf(setting) {
    const { mechanism, people, n, rounds, k, sigma, sensitivity } = setting, holds = VALID_FOR[mechanism](setting);
    const engine = (given) => ({
      note: "", points: POINTS, holds, ...given,
      *curve(eps) {
        const found = [];
        for (const at of eps) {
          found.push(given.delta(at));
          yield {};
        }
        return found;
      },
    });
    if (mechanism === "laplace" || mechanism === "gaussian") {
      const normal = mechanism === "gaussian", gap = normal ? sensitivity / sigma : people[0].eps, own = gspa.lineOf(mechanism, gap, n);
      const epsilon = (delta) => {
        const upper = gspa.lineEpsilon(own, delta);
        return { lower: null, value: upper, upper };
      };
      return engine({ method: METHODS.line, top: normal ? Infinity : gap, points: normal ? 13 : POINTS, epsilon, delta: (eps) => gspa.lineDelta(own, eps) });
    }
    const problem = gspa.problemOf(people, mechanism, k), crowd = mechanism === "rr" && rounds === 1 ? gspa.crowdOf(people) : null;
    if (crowd) {
      return engine({
        method: METHODS.exact, holds: VALID_FOR.exact(), top: problem.eps, points: Math.max(13, Math.min(POINTS, Math.floor(POINTS * 8192 / crowd.choices))),
        epsilon: (delta) => gspa.exactEpsilon(crowd, delta), delta: (eps) => gspa.exactDelta(crowd, eps).upper,
      });
    }
    if (rounds > 1) {
      const sides = gspa.sidesOf(problem, rounds, setting.delta), upper = (eps) => gspa.composedCurve(sides, problem.eps, eps);
      return {
        ...engine({
          method: METHODS.often, note: mechanism === "rr" ? NOTES.often : "", top: rounds * problem.eps,
          epsilon: (delta) => gspa.composedEpsilon(sides, problem.eps, delta), delta: (eps) => upper([eps])[0],
        }),
        *curve(eps) {
          return upper(eps);
        },
      };
    }
    return engine({
      method: mechanism === "krr" ? METHODS.law : METHODS.pair, note: mechanism === "rr" ? NOTES.many : "", top: problem.eps, points: problem.coin === null ? POINTS : POINTS / 2,
      epsilon: (delta) => gspa.epsilonOf(problem, delta), delta: (eps) => gspa.deltaOf(problem, eps, FEWER).upper,
    });
  }

  // The largest common local eps at which n users meet a central eps at delta: at `lower` it is certified to be met, at
  // `upper` to be missed; null if even the largest that is tried meets it. As gspa/accountant/inverse.py.
  function localEpsilon({ delta, target, n, mechanism, k }) {
    const found = (local, entries) => {
      const people = [{ eps: local, count: n }], crowd = mechanism === "rr" ? gspa.crowdOf(people) : null;
      return crowd ? gspa.exactDelta(crowd, target) : gspa.deltaOf(gspa.problemOf(people, mechanism, k), target, entries);
    };
    if (found(MOST_LOCAL).upper <= delta) return null;
    const at = (y) => Math.min(target + Math.exp(y), MOST_LOCAL);
    const spare = (entries) => (z) => Math.log(delta / found(at(z), entries).value), start = Math.log(target);
    const { x: y, slope } = gspa.findRoot(spare(), mechanism === "krr" ? gspa.findRoot(spare(FEWEST), start).x : start), there = found(at(y));
    const push = (holds, wide, sign, last) => {
      let way = Math.max(1e-10, slope < 0 ? Math.min(0.7 * Math.log(wide) / -slope, 1) : 0); // about the interval's own width
      for (; way < 80; way *= way < 1e-8 ? 4 : 1.3) if (holds(found(at(y + sign * way)))) return at(y + sign * way);
      return last;
    };
    const lower = push((now) => now.upper <= delta, there.upper / delta, -1, target);
    const upper = push((now) => now.lower > delta, delta / Math.max(there.lower, 1e-300), 1, MOST_LOCAL);
    return { lower, value: Math.min(Math.max(at(y), lower), upper), upper };
  }

  function warningsOf({ delta, n }) {
    const rests = "this rests on a shuffler that is trusted, and on users who do not collude with the analyzer: if some may, ask the " +
      "command line with --honest, the number who do not";
    if (!(delta >= 1 / n)) return [rests];
    return [`delta = ${smallNumber(delta)} is at least 1/n: a mechanism that publishes one record in full could meet this`, rests];
  }

  // Where the curve is drawn: to just beyond both eps, if the paper's is not many times the certified one.
  function pointsOf(exact, paper, top, points) {
    const least = Math.max(exact.upper, 1e-3 * top);
    const most = 1.2 * Math.max(least, Math.min(Number.isFinite(paper) ? paper : 0, 8 * least));
    return Array.from({ length: points }, (_, i) => most * i / (points - 1));
  }

  // Whether the interval is of the method's own value alone: its lower end is no attack on the mechanism.
  const ownValue = (method, { n }) => method !== METHODS.exact && n > 1;

  // The answer in parts, the quick ones first: {exact, mu, paper, method, holds, note, warnings, own}, {bounds}, {rates},
  // {curve: {eps, pair, gaussian}}; to the inverse question {local, ...} alone. Each call of next() is one piece of work.
  function* answer(setting) {
    const { mechanism, people, delta, rounds, n, target } = setting, warnings = warningsOf(setting);
    if (target !== null) {
      const exact = mechanism === "rr" && n <= gspa.MOST_INPUTS, note = mechanism === "rr" && !exact ? NOTES.many : "";
      const words = { method: exact ? METHODS.exact : mechanism === "krr" ? METHODS.law : METHODS.pair, holds: VALID_FOR[exact ? "exact" : mechanism](setting), note, warnings };
      yield { local: localEpsilon(setting), ...words, own: ownValue(words.method, setting) };
      return;
    }
    const engine = engineOf(setting), { method, holds, note, top } = engine, exact = engine.epsilon(delta), known = PAPERS.includes(mechanism);
    const mu = known ? gspa.paperMu(people) * Math.sqrt(rounds) : null, paper = known && Number.isFinite(mu) ? gspa.gdpEpsilon(delta, mu) : Infinity;
    yield { exact, mu, paper, method, holds, note, warnings, own: ownValue(method, setting) };
    yield { bounds: BOUNDED.includes(mechanism) ? gspa.compare(people, delta, mechanism) : null };
    yield { rates: yield* gspa.rates(engine.delta, RATES, top) };
    const eps = pointsOf(exact, paper, Number.isFinite(top) ? top : 1, engine.points);
    const gaussian = known ? eps.map((at) => (Number.isFinite(mu) ? gspa.gdpDelta(at, mu) : 1)) : [];
    yield { curve: { eps, pair: yield* engine.curve(eps), gaussian } };
  }

  Object.assign(gspa, { START, RANGES, MECHANISMS, RATES, kindOf, read, toHash, fromHash, elsewhere, engineOf, answer, localEpsilon, plainly, smallNumber, rounded, outwards, percent });
});
