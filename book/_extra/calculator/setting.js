// A setting of the calculator: read from what was typed, kept in the address, answered, and written as a command and a call.
"use strict";
(self.gspaParts = self.gspaParts || []).push(function (gspa) {
  const MOST_USERS = 1e9, MOST_LINES = 1e5, LONGEST = 4000; // characters of an address
  const POINTS = 60; // of the curve
  const INLINE = 20; // groups that a Python call lists; more are read from the file
  const START = {
    mechanism: "rr", budgets: "one", n: "10000", eps: "0.5", n2: "1000", eps2: "1", list: "0.1,5400\n0.5,3700\n1,900",
    delta: "1e-4", rounds: "1",
  };
  const USERS = { low: 1, high: MOST_USERS, whole: true }, EPS = { low: 1e-3, high: 20 };
  const RANGES = {
    n: USERS, eps: EPS, n2: USERS, eps2: EPS, delta: { low: 1e-12, high: 0.1 }, rounds: { low: 1, high: 1000, whole: true },
  };
  const FIELDS = { one: ["n", "eps"], two: ["n", "eps", "n2", "eps2"], list: [] }; // of numbers, in each way to say who reports
  // What a field is called: an argument, or a column of the budgets.
  const NAMES = {
    one: {}, list: {},
    two: { eps: "group 1, column eps", n: "group 1, column count", eps2: "group 2, column eps", n2: "group 2, column count" },
  };
  // As the package words them.
  const VALID_FOR = {
    rr: "binary randomized response, own eps_j each; a user with delta_j > 0 is pure with probability 1 - delta_j and arbitrary otherwise",
    common: "any eps0-LDP randomizer, the same for all users",
  };
  const METHODS = {
    once: "dominating pair, certified sum over the number of clones",
    often: "composition of dominating pairs, Fourier transform on a grid from both sides",
  };
  const smallNumber = (value) => (value > 0 && value < 1e-3 ? value.toExponential() : String(value)); // 1e-4, not 0.0001

  // The nearest decimal of seven significant digits that is not below (`up`) or not above a value, exactly: a double
  // is a whole number over a power of two. As `rounded` in gspa/accountant/bound.py, for 0 and values from 1e-300 to 1e300.
  function rounded(value, up) {
    if (value === 0 || !Number.isFinite(value)) return String(value);
    let whole = value, halvings = 0, places = 6 - Number(value.toExponential().split("e")[1]);
    for (; !Number.isInteger(whole); halvings++) whole *= 2;
    const cut = () => { // value 10^places, rounded to a whole number
      const top = BigInt(whole) * 10n ** BigInt(Math.max(places, 0)), bottom = 2n ** BigInt(halvings) * 10n ** BigInt(Math.max(-places, 0));
      return (top + (up ? bottom - 1n : 0n)) / bottom;
    };
    if (cut() < 10n ** 6n) places++; // the shortest way to write the value is the power of ten just above it
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

  const plainly = (text) => text.replace(/[\s_]/g, "");
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
      const parts = line.split(","), eps = Number(parts[0]), count = parts.length > 1 ? Number(parts[1]) : 1;
      const where = `budgets line ${i + 1}`;
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

  // What was typed, as {setting, complaints}; the setting is null if there is a complaint.
  function read(texts) {
    const complaints = {}, values = {}, names = FIELDS[texts.budgets];
    for (const name of [...names, "delta", "rounds"]) {
      const [value, complaint] = number(name, texts[name], NAMES[texts.budgets][name]);
      values[name] = value;
      if (complaint) complaints[name] = complaint;
    }
    let people = [];
    if (names.every((name) => !complaints[name])) {
      const [found, complaint] = texts.budgets === "one" ? [[{ eps: values.eps, count: values.n }], ""] : readList(linesOf(texts));
      people = found;
      if (complaint) complaints[texts.budgets === "list" ? "list" : "n2"] = complaint;
    }
    if (!Object.hasOwn(VALID_FOR, texts.mechanism)) {
      complaints.mechanism = "mechanism: must be rr or common here; the command line has others, gspa epsilon --help";
    } else if (texts.mechanism === "common" && people.length > 1) {
      const [low, high] = [people[0], people[people.length - 1]].map(({ eps }) => smallNumber(Number(eps.toPrecision(6))));
      complaints.mechanism = `one common eps0-LDP randomizer: needs one eps for all users; eps runs from ${low} to ${high}, so the ` +
        "users' randomizers differ; name the family (rr, krr, subset), or give everyone the largest eps";
    }
    const bad = Object.keys(complaints).length > 0;
    const setting = bad ? null : { mechanism: texts.mechanism, people, delta: values.delta, rounds: values.rounds };
    return { setting, complaints };
  }

  // The part of the address behind #: the front door's arguments by their names, the lines of the budgets divided by
  // semicolons; null if they are too long for it.
  function toHash(texts) {
    const who = texts.budgets === "one" ? ["eps", "n"] : ["budgets"];
    const pairs = [...who, "delta", "mechanism", "rounds"].map((name) => {
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
    Object.assign(texts, rest);
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
  function elsewhere({ mechanism, people, delta, rounds }) {
    const [{ eps, count }] = people, one = people.length === 1, column = (name) => people.map((group) => group[name]).join(", ");
    const csv = one ? "" : ["eps,count", ...people.map((group) => `${group.eps},${group.count}`)].join("\n");
    const options = [`--delta ${smallNumber(delta)}`], keywords = [`delta=${smallNumber(delta)}`];
    if (mechanism !== START.mechanism) {
      options.push(`--mechanism ${mechanism}`);
      keywords.push(`mechanism="${mechanism}"`);
    }
    if (rounds > 1) {
      options.push(`--rounds ${rounds}`);
      keywords.push(`rounds=${rounds}`);
    }
    const listed = people.length <= INLINE;
    const who = one ? `eps=${eps}, n=${count}` : listed ? `budgets=from_array([${column("eps")}], count=[${column("count")}])` : 'budgets="budgets.csv"';
    const imports = one || !listed ? "import gspa" : "import gspa\nfrom gspa.accountant.budgets import from_array";
    return {
      csv,
      command: ["gspa epsilon", one ? `--eps ${eps} --n ${count}` : "--budgets budgets.csv", ...options].join(" "),
      python: `${imports}\ngspa.epsilon(${[who, ...keywords].join(", ")})`,
    };
  }

  // Where the curve is drawn: to just beyond both eps, if the paper's is not many times the pair's.
  function pointsOf(setting, exact, paper) {
    const least = Math.max(exact.upper, 1e-3 * setting.people[setting.people.length - 1].eps * setting.rounds);
    const most = 1.2 * Math.max(least, Math.min(Number.isFinite(paper) ? paper : 0, 8 * least));
    return Array.from({ length: POINTS }, (_, i) => most * i / (POINTS - 1));
  }

  // The answer in three parts, the quick ones first: {exact, mu, paper}, {bounds}, {eps, pair, gaussian} of the curve.
  // Each call of next() is one piece of work.
  function* answer(setting) {
    const { mechanism, people, delta, rounds } = setting, problem = gspa.problemOf(people, mechanism);
    const sides = rounds > 1 ? gspa.sidesOf(problem, rounds, delta) : null;
    const exact = rounds > 1 ? gspa.composedEpsilon(sides, problem.eps, delta) : gspa.epsilonOf(problem, delta);
    const mu = gspa.paperMu(people) * Math.sqrt(rounds), paper = Number.isFinite(mu) ? gspa.gdpEpsilon(delta, mu) : Infinity;
    yield { exact, mu, paper };
    yield { bounds: gspa.compare(people, delta, mechanism) };
    const eps = pointsOf(setting, exact, paper), gaussian = eps.map((at) => (Number.isFinite(mu) ? gspa.gdpDelta(at, mu) : 1));
    let pair = [];
    if (rounds > 1) pair = gspa.composedCurve(sides, problem.eps, eps);
    else {
      for (const at of eps) {
        pair.push(gspa.deltaOf(problem, at).upper);
        yield {};
      }
    }
    yield { curve: { eps, pair, gaussian } };
  }

  Object.assign(gspa, { START, RANGES, VALID_FOR, METHODS, read, toHash, fromHash, elsewhere, answer, smallNumber, rounded, outwards });
});
