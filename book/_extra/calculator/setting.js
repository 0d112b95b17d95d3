// A setting of the calculator: read from what was typed, kept in the address, answered, and written as a command.
"use strict";
(self.gspaParts = self.gspaParts || []).push(function (gspa) {
  const MOST_USERS = 1e9, MOST_LINES = 1e5, LONGEST = 4000; // characters of an address
  const POINTS = 60; // of the curve
  const START = {
    mechanism: "rr", budgets: "one", n: "10000", eps: "0.5", eps2: "1", share: "0.1", list: "0.1,5400\n0.5,3700\n1,900",
    delta: "1e-4", rounds: "1",
  };
  const RANGES = {
    n: { low: 1, high: MOST_USERS, whole: true }, eps: { low: 1e-3, high: 20 }, eps2: { low: 1e-3, high: 20 },
    share: { low: 0, high: 1 }, delta: { low: 1e-12, high: 0.1 }, rounds: { low: 1, high: 1000, whole: true },
  };
  const VALID_FOR = {
    rr: "binary randomized response: a bit that is true with odds e^eps_j to 1, every user's own eps_j",
    common: "any one eps0-LDP randomizer, the same for all users",
  };
  const smallNumber = (value) => (value > 0 && value < 1e-3 ? value.toExponential() : String(value)); // 1e-4, not 0.0001
  const shown = (value) => (Number.isInteger(value) ? value.toLocaleString("en") : smallNumber(value));

  // [number, complaint]; the complaint is empty if the text is a number in its range.
  function number(name, text) {
    const { low, high, whole } = RANGES[name], value = Number(text.replace(/[\s_]/g, ""));
    const allowed = `${whole ? "a whole number" : "a number"} from ${shown(low)} to ${shown(high)}`;
    if (text.trim() === "" || !(value >= low && value <= high) || (whole && !Number.isInteger(value))) {
      const given = text.trim().length > 20 ? `${text.trim().slice(0, 20)}...` : text.trim();
      return [NaN, given ? `${given} is not ${allowed}.` : `Enter ${allowed}.`];
    }
    return [value, ""];
  }

  // Distinct eps in increasing order with their counts, from lines "eps[,count]"; a first line of names may be there.
  function readList(text) {
    const lines = text.split(/\r?\n|;/), counts = new Map();
    let users = 0, used = 0;
    for (let i = 0; i < lines.length; i++) {
      const line = lines[i].trim();
      if (line === "" || (used === 0 && /^eps\s*(,\s*count)?$/.test(line))) continue;
      const parts = line.split(","), eps = Number(parts[0]), count = parts.length > 1 ? Number(parts[1]) : 1;
      const where = `Line ${i + 1}, "${line.slice(0, 30)}":`;
      if (parts.length > 2 || parts.some((part) => part.trim() === "")) return [[], `${where} write eps or eps,count.`];
      if (!(eps === 0 || (eps >= RANGES.eps.low && eps <= RANGES.eps.high))) return [[], `${where} eps must be 0, or from 0.001 to 20.`];
      if (!(count >= 1 && Number.isInteger(count))) return [[], `${where} the count must be a whole number from 1.`];
      users += count;
      used++;
      if (used > MOST_LINES) return [[], `At most ${MOST_LINES} lines; give equal eps a count.`];
      if (users > MOST_USERS) return [[], `At most ${shown(MOST_USERS)} users.`];
      counts.set(eps, (counts.get(eps) || 0) + count);
    }
    if (used === 0) return [[], "Paste at least one line: eps or eps,count."];
    return [[...counts].sort((a, b) => a[0] - b[0]).map(([eps, count]) => ({ eps, count })), ""];
  }

  // What was typed, as {setting, complaints}; the setting is null if there is a complaint.
  function read(texts) {
    const complaints = {}, values = {};
    const names = { one: ["n", "eps"], two: ["n", "eps", "eps2", "share"], list: [] }[texts.budgets];
    for (const name of [...names, "delta", "rounds"]) {
      const [value, complaint] = number(name, texts[name]);
      values[name] = value;
      if (complaint) complaints[name] = complaint;
    }
    let people = [];
    if (texts.budgets === "list") {
      const [found, complaint] = readList(texts.list);
      people = found;
      if (complaint) complaints.list = complaint;
    } else if (texts.budgets === "two" && !complaints.n && values.n < 2) {
      complaints.n = "Two groups need at least 2 users.";
    } else if (names.every((name) => !complaints[name])) {
      people = [{ eps: values.eps, count: values.n }];
      if (texts.budgets === "two") {
        const some = Math.min(Math.max(Math.round(values.share * values.n), 1), values.n - 1);
        people = values.eps === values.eps2 ? people : [{ eps: values.eps, count: values.n - some }, { eps: values.eps2, count: some }];
        people.sort((a, b) => a.eps - b.eps);
      }
    }
    if (texts.mechanism === "common" && people.length > 1) {
      complaints.mechanism = "One randomizer for all needs one eps: choose one budget, or randomized response.";
    }
    const bad = Object.keys(complaints).length > 0;
    const setting = bad ? null : { mechanism: texts.mechanism, people, delta: values.delta, rounds: values.rounds };
    return { setting, complaints };
  }

  const FIELDS = { one: ["n", "eps"], two: ["n", "eps", "eps2", "share"], list: ["list"] };

  // The part of the address behind #, without what the setting does not use; null if a list is too long for it.
  function toHash(texts) {
    if (texts.budgets === "list" && texts.list.length > LONGEST) return null;
    const pairs = ["mechanism", "budgets", ...FIELDS[texts.budgets], "delta", "rounds"].map((name) => {
      const text = name === "list" ? texts.list.trim().split(/\s*\r?\n\s*/).join(";") : texts[name].trim();
      return `${name}=${encodeURIComponent(text).replace(/%2C/g, ",").replace(/%3B/g, ";")}`;
    });
    const hash = `#${pairs.join("&")}`;
    return hash.length > LONGEST ? null : hash;
  }

  // What was typed, from such an address; what it does not name is as at the start.
  function fromHash(hash) {
    const texts = { ...START };
    for (const pair of hash.replace(/^#/, "").split("&")) {
      const at = pair.indexOf("="), name = pair.slice(0, at);
      if (at < 1 || !Object.hasOwn(START, name)) continue;
      try {
        texts[name] = decodeURIComponent(pair.slice(at + 1));
      } catch {
        continue; // a broken address
      }
    }
    if (!VALID_FOR[texts.mechanism]) texts.mechanism = START.mechanism;
    if (!FIELDS[texts.budgets]) texts.budgets = START.budgets;
    texts.list = texts.list.replace(/;/g, "\n");
    return texts;
  }

  // The command line that answers the same question.
  function command({ mechanism, people, delta, rounds }) {
    const rest = `--delta ${smallNumber(delta)}${mechanism === "rr" ? "" : ` --mechanism ${mechanism}`}${rounds > 1 ? ` --rounds ${rounds}` : ""}`;
    if (people.length === 1) return `gspa epsilon --eps ${people[0].eps} --n ${people[0].count} ${rest}`;
    if (people.length > 5) return `gspa epsilon --budgets budgets.csv ${rest}  # the list, below a line eps,count`;
    const lines = people.map(({ eps, count }) => `${eps},${count}`);
    return `printf '${["eps,count", ...lines].join("\\n")}\\n' > budgets.csv\ngspa epsilon --budgets budgets.csv ${rest}`;
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

  Object.assign(gspa, { START, RANGES, VALID_FOR, read, toHash, fromHash, command, answer, smallNumber });
});
