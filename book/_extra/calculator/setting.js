// A setting of the calculator: read from what was typed, kept in the address, and written as a command and a call.
"use strict";
(self.gspaParts = self.gspaParts || []).push(function (gspa) {
  const MOST_USERS = 1e9, MOST_LINES = 1e5, LONGEST = 4000; // characters of an address
  const SCALES = 12; // distinct noise scales, each of whose users may be the worst
  const OUTPUTS = 30, SMALLEST = 1e-300; // inputs and outputs of a matrix; and a probability that is not 0
  const KINDS = ["optimized", "symmetric"]; // of unary encoding
  const INLINE = 20; // groups that a Python call lists; more are read from the file
  const START = {
    mechanism: "rr", budgets: "one", n: "10000", eps: "0.5", n2: "1000", eps2: "1", sigma: "1", sigma2: "2",
    list: "0.1,5400\n0.5,3700\n1,900", matrix: "0.5,0.25,0.25\n0.25,0.5,0.25\n0.25,0.25,0.5", delta: "1e-6", rounds: "1",
    k: "10", size: "2", g: "4", kind: "optimized", sensitivity: "1", target_eps: "0.1", asks: "epsilon",
  };
  const USERS = { low: 1, high: MOST_USERS, whole: true }, EPS = { low: 1e-3, high: 20 }, NOISE = { low: 1e-3, high: 1e6 };
  const ITEMS = { low: 2, high: 1e6, whole: true };
  const RANGES = {
    n: USERS, eps: EPS, n2: USERS, eps2: EPS, sigma: NOISE, sigma2: NOISE, delta: { low: 1e-12, high: 0.1 },
    rounds: { low: 1, high: 1000, whole: true }, k: ITEMS, size: { ...ITEMS, low: 1 }, g: ITEMS,
    sensitivity: { low: 1e-3, high: 1e6 }, target_eps: { low: 1e-4, high: 20 },
  };
  // As the package words them.
  const PURE = "; a user with delta_j > 0 is pure with probability 1 - delta_j, and else arbitrary but independent of all others";
  const line = (name, width) => `${name} reports of values in [0, ${Number(width.toPrecision(6))}], own noise scale each, any values of the others`;
  // What there is: its own arguments, what it is called, and what else an answer is valid for; one eps for all if `common`.
  // A kind that Python has a class for, because it has arguments, has its name.
  const MECHANISMS = {
    rr: { label: () => "binary randomized response" },
    krr: { own: ["k"], kind: "KRR", label: ({ k }) => `${k}-ary randomized response` },
    subset: { own: ["k", "size"], kind: "SubsetSelection", label: ({ k, size }) => `subset selection, ${size} of ${k}` },
    unary: { own: ["k", "kind"], kind: "UnaryEncoding", common: true, label: ({ k, kind }) => `unary encoding of ${k} items, ${kind}` },
    rappor: { own: ["k"], kind: "Rappor", common: true, label: ({ k }) => `unary encoding of ${k} items, symmetric` },
    hashing: { own: ["k", "g"], kind: "LocalHashing", label: ({ g }) => `local hashing to ${g} values`,
      words: ({ k, g }) => `local hashing of ${k} items to ${g} values, each user's hash a random function of their own` },
    hadamard: { own: ["k"], kind: "HadamardResponse", label: ({ k }) => `Hadamard response of ${k} items` },
    laplace: { column: "eps", words: () => line("Laplace", 1), noise: true },
    gaussian: { own: ["sensitivity"], kind: "Gaussian", words: ({ sensitivity }) => line("Gaussian", sensitivity), noise: true },
    piecewise: { common: true, label: () => "the piecewise mechanism", words: () => "the piecewise mechanism for values in [-1, 1]" },
    duchi: { label: () => "Duchi et al.'s mechanism for a value in [-1, 1]" },
    discrete: { own: ["matrix"], kind: "Discrete", words: ({ matrix }, n) => `the randomizers given: ${n.toLocaleString("en")} users of ${matrix.length} inputs and ${matrix[0].length} outputs` },
    aligned: { label: () => "any randomizers with aligned clones",
      words: () => "any randomizers with aligned clones: own eps_j each, R_j >= (Q_0 + Q_1)/(1 + e^{eps_j}) for the parts Q_0, Q_1 of the victim's randomizer" },
    common: { common: true, label: () => "one common eps0-LDP randomizer", words: () => "any eps0-LDP randomizer, the same for all users" },
  };
  // Bits, of which the exact law is known.
  const isBits = ({ mechanism, own }) => mechanism === "rr" || mechanism === "duchi" || (["krr", "subset"].includes(mechanism) && own.k === 2);

  // What an answer is valid for, in the package's words.
  function validFor({ mechanism, own, n }, exact, proved) {
    const { label, words, common } = MECHANISMS[mechanism];
    if (!proved) return `${words(own)}; 0 and ${Number((own.sensitivity ?? 1).toPrecision(6))} as the worst values of a victim with more than the least noise: measured, not proved`;
    if (exact) return `${label(own)}, own eps_j each`;
    if (["laplace", "gaussian", "discrete", "common"].includes(mechanism)) return words(own, n);
    return (mechanism === "aligned" ? words() : `${(words ?? label)(own)}, ${common ? "one eps for all" : "own eps_j each"}`) + PURE;
  }

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

  // What was typed as a message shows it, in quotes unless it is a number that an argument may have.
  function must(name, text, allowed) {
    const given = text.trim().length > 30 ? `${text.trim().slice(0, 30)}...` : text.trim();
    const plain = !name.includes(" ") && given !== "" && Number.isFinite(Number(given));
    return `${name} = ${plain ? given : `'${given}'`}: must be ${allowed}`;
  }

  // Digits in groups of three, as in 10,000 or 10 000 or 10_000, are read as one number, and a long minus as a short one.
  function plainly(text) {
    const trimmed = text.trim().replace(/\u2212/g, "-");
    return /^\d{1,3}([\s_,]\d{3})+(\.\d*)?$/.test(trimmed) ? trimmed.replace(/[\s_,]/g, "") : trimmed;
  }
  const inside = ({ low, high, whole }, value) => value >= low && value <= high && (!whole || Number.isInteger(value));
  // Of a decimal number; where a `whole` one is asked for, 1.000 may be a thousand.
  function valueOf(text, whole = false) {
    const decimal = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text.trim()), thousands = /^\d{1,3}(\.\d{3})+$/.test(text.trim());
    return decimal && !(whole && thousands) ? Number(text) : NaN;
  }

  // [number, complaint]; the complaint is empty if the text is a number in its range.
  function number(name, text, called = name) {
    const range = RANGES[name], value = valueOf(plainly(text), range.whole);
    const ends = [range.low, range.high].map(smallNumber);
    if (inside(range, value)) return [value, ""];
    return [NaN, must(called, text, range.whole ? `an integer from ${ends.join(" to ")}` : `a number in [${ends.join(", ")}]`)];
  }

  // Distinct values of a column in increasing order with their counts, from lines "value[,count]"; a first line of names
  // may be there.
  function readList(text, column) {
    const lines = text.split(/\r?\n|;/), counts = new Map(), range = RANGES[column];
    let users = 0, used = 0;
    for (let i = 0; i < lines.length; i++) {
      const line = lines[i].trim();
      if (line === "" || (used === 0 && line.replace(/\s/g, "").match(`^${column}(,count)?$`))) continue;
      const where = `budgets line ${i + 1}`, comma = line.indexOf(",");
      const parts = comma < 0 ? [line] : [line.slice(0, comma), ...plainly(line.slice(comma + 1)).split(",")];
      if (/\d\s+\d/.test(parts[0])) {
        return [[], must(where, line, `${column} or ${column},count; a comma is missing, as in ${parts[0].trim().replace(/\s+/, ",")}`)];
      }
      if (parts.length > 1 && parts[0].trim() === "0") return [[], must(where, line, "0.5 for a half, or 0.0,5 for five users with 0: a comma is no decimal point")];
      const value = valueOf(parts[0]), count = parts.length > 1 ? valueOf(parts[1], true) : 1;
      if (parts.length > 2 || parts.some((part) => part.trim() === "")) return [[], must(where, line, `${column} or ${column},count`)];
      if (!((column === "eps" && value === 0) || inside(range, value))) {
        return [[], must(`${where}, column ${column}`, parts[0], `${column === "eps" ? "0 or " : ""}a number in [${range.low}, ${range.high}]`)];
      }
      if (!(count >= 1 && Number.isInteger(count))) return [[], must(`${where}, column count`, parts[1], "an integer >= 1")];
      users += count;
      used++;
      if (used > MOST_LINES) return [[], `budgets: must be at most ${MOST_LINES} lines; give equal ${column} a count`];
      if (users > MOST_USERS) return [[], must("sum(count)", String(users), `at most ${MOST_USERS}`)];
      counts.set(value, (counts.get(value) || 0) + count);
    }
    if (used === 0) return [[], must("budgets", "", `at least one line, ${column} or ${column},count`)];
    return [[...counts].sort((a, b) => a[0] - b[0]).map(([value, count]) => ({ [column]: value, count })), ""];
  }

  // A randomizer, a row an input, each divided by its sum; brackets, as Python writes them, may be there.
  function readMatrix(text) {
    const lines = text.replace(/\]\s*,?/g, "\n").replace(/\[/g, "").split(/\r?\n/).map((row) => row.trim()).filter((row) => row !== "");
    const parts = lines.map((row) => row.split(/[\s,;]+/).filter((part) => part !== "")), rows = parts.map((row) => row.map(valueOf));
    if (rows.length < 2 || rows.length > OUTPUTS || rows[0].length > OUTPUTS) return [[], must("matrix", text, `two to ${OUTPUTS} rows of at most ${OUTPUTS} probabilities`)];
    for (let i = 0; i < rows.length; i++) {
      const bad = rows[i].findIndex((p) => !(p >= 0));
      if (bad >= 0) return [[], must(`matrix row ${i + 1}, column ${bad + 1}`, parts[i][bad], "a probability, as in 0.25")];
      const small = rows[i].findIndex((p) => p > 0 && p < SMALLEST);
      if (small >= 0) return [[], must(`matrix row ${i + 1}, column ${small + 1}`, parts[i][small], "0, or at least 1e-300")];
      if (rows[i].length !== rows[0].length) return [[], `matrix row ${i + 1}: must have ${rows[0].length} probabilities, as row 1 has, not ${rows[i].length}`];
    }
    const sums = rows.map((row) => row.reduce((a, b) => a + b)), off = sums.findIndex((sum) => !(Math.abs(sum - 1) <= 1e-9));
    if (off >= 0) return [[], `matrix row ${off + 1}: must sum to 1, not ${Number(sums[off].toPrecision(6))}`];
    return [rows.map((row, i) => row.map((p) => p / sums[i])), ""];
  }

  // Who reports is said by numbers, in groups or by a list; n alone says it for a matrix, or where all have what is asked for.
  const columnOf = ({ mechanism }) => (mechanism === "gaussian" ? "sigma" : "eps");
  const kindOf = ({ mechanism, budgets }) => (mechanism === "discrete" ? "one" : budgets);
  const bare = (texts) => texts.mechanism === "discrete" || (texts.asks === "calibrate" && texts.budgets === "one");
  function fieldsOf(texts) {
    const column = columnOf(texts);
    return bare(texts) ? ["n"] : { one: ["n", column], two: ["n", column, "n2", `${column}2`], list: [] }[texts.budgets];
  }
  // The names of what is used of what was typed.
  const usedIn = (texts) => [
    "mechanism", ...(bare(texts) || texts.budgets !== "list" ? fieldsOf(texts) : ["list"]), ...(MECHANISMS[texts.mechanism]?.own ?? []),
    "delta", "rounds", ...(texts.asks === "calibrate" ? ["target_eps"] : []),
  ];
  // Of two groups a field is called by its column.
  const called = (name, kind) => (kind !== "two" || !/^(n|eps|sigma)2?$/.test(name) ? name
    : `group ${name.endsWith("2") ? 2 : 1}, column ${name.startsWith("n") ? "count" : name.replace("2", "")}`);
  const linesOf = (texts) => {
    const column = columnOf(texts), pairs = [[texts[column], texts.n], [texts[`${column}2`], texts.n2]];
    return texts.budgets === "list" ? texts.list : pairs.map((pair) => pair.map(plainly).join(",")).join("\n");
  };

  // What was typed, as {setting, complaints}; the setting is null if there is a complaint. A setting's people are empty
  // where n alone is said; `target` is null or the central eps to meet.
  function read(texts) {
    const complaints = {}, values = {}, own = {}, kind = kindOf(texts), inverse = texts.asks === "calibrate", column = columnOf(texts);
    const { mechanism } = texts, known = Object.hasOwn(MECHANISMS, mechanism) ? MECHANISMS[mechanism] : {}, fields = fieldsOf(texts);
    const take = (to, name, [value, complaint]) => {
      to[name] = value;
      if (complaint) complaints[name] = complaint;
    };
    const readers = { matrix: readMatrix, kind: (text) => [text, KINDS.includes(text) ? "" : must("kind", text, KINDS.join(" or "))] };
    for (const name of known.own ?? []) take(own, name, (readers[name] ?? ((text) => number(name, text)))(texts[name]));
    for (const name of [...fields, "delta", "rounds", ...(inverse ? ["target_eps"] : [])]) take(values, name, number(name, texts[name], called(name, kind)));
    let people = [];
    if (!bare(texts) && fields.every((name) => !complaints[name])) {
      const [found, complaint] = kind === "one" ? [[{ [column]: values[column], count: values.n }], ""] : readList(linesOf(texts), column);
      people = found;
      if (complaint) complaints[kind === "list" ? "list" : "n2"] = complaint;
    }
    const n = bare(texts) ? values.n : people.reduce((total, { count }) => total + count, 0);
    const setting = { mechanism, own, people, n, delta: values.delta, rounds: values.rounds, target: inverse ? values.target_eps : null };
    if (!Object.hasOwn(MECHANISMS, mechanism)) {
      complaints.mechanism = `mechanism: must be ${Object.keys(MECHANISMS).join(", ")} here; the command line has others, gspa epsilon --help`;
    } else if (Object.keys(complaints).length === 0) outside(setting, known, complaints);
    return { setting: Object.keys(complaints).length > 0 ? null : setting, complaints };
  }

  // What the page cannot answer, or nobody can.
  function outside(setting, known, complaints) {
    const { mechanism, people, own, target } = setting, { command } = elsewhere(setting);
    if (known.common && people.length > 1) {
      const [low, high] = [people[0], people[people.length - 1]].map(({ eps }) => smallNumber(Number(eps.toPrecision(6))));
      complaints.mechanism = `${known.label(own)}: needs one eps for all users; eps runs from ${low} to ${high}, so the users' ` +
        "randomizers differ; give everyone the largest eps, or name a randomizer that takes an eps of one's own (rr, krr, subset)";
    } else if (known.noise && people.length > SCALES) {
      complaints.mechanism = `${mechanism}: must be at most ${SCALES} distinct scales of noise here; ask the command line: ${command}`;
    } else if (target !== null && mechanism === "discrete") {
      complaints.mechanism = `discrete: the matrix says how private a report is; for the most rounds ask the command line: ${command.replace(/ --rounds \d+/, "")}`;
    } else if (own.size >= own.k) {
      complaints.size = `size = ${own.size}: must be in [1, k - 1] = [1, ${own.k - 1}]`;
    } else if (people.length > 0 && people.every(({ eps }) => eps === 0) && target !== null) {
      complaints.list = "budgets: must be one that is above 0; there is nothing to multiply";
    }
  }

  // The part of the address behind #: the front door's arguments by their names, the lines of the budgets divided by
  // semicolons; null if they are too long for it.
  function toHash(texts) {
    const inverse = texts.asks === "calibrate", who = kindOf(texts) === "one" ? fieldsOf(texts).slice().reverse() : ["budgets"];
    const own = Object.hasOwn(MECHANISMS, texts.mechanism) ? MECHANISMS[texts.mechanism].own ?? [] : [];
    const names = [...who, ...(inverse ? ["target_eps"] : []), "delta", "mechanism", ...own, "rounds"];
    const pairs = names.map((name) => {
      const text = (name === "budgets" ? linesOf(texts) : texts[name]).trim().replace(/\s*\r?\n\s*/g, ";");
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
      if (name === "target_eps") texts.asks = "calibrate";
    }
    texts.matrix = texts.matrix.replace(/;/g, "\n");
    if (["one", "two", "list"].includes(texts.budgets)) return texts;
    const lines = texts.budgets.split(";").map((line) => line.split(",")), column = columnOf(texts);
    const group = ([value, n, ...more]) => n !== undefined && more.length === 0 && number(column, value)[1] === "" && number("n", n)[1] === "";
    if (lines.length === 2 && lines.every(group)) {
      [[texts[column], texts.n], [texts[`${column}2`], texts.n2]] = lines;
      texts.budgets = "two";
    } else {
      texts.list = texts.budgets.replace(/;/g, "\n");
      texts.budgets = "list";
    }
    return texts;
  }

  // The same question elsewhere: {file, csv, command, python, bounds}; csv is what a file has to hold, or empty.
  function elsewhere({ mechanism, own, people, n, delta, rounds, target }) {
    const { kind } = MECHANISMS[mechanism], groups = people.length > 1, column = columnOf({ mechanism }), list = (name) => people.map((group) => group[name]).join(", ");
    const rows = own.matrix?.map((row) => row.map((p) => Number(p.toPrecision(15))).join(",")), file = rows ? "matrix.csv" : "budgets.csv";
    const csv = rows ? rows.join("\n") : groups ? [`${column},count`, ...people.map((group) => `${group[column]},${group.count}`)].join("\n") : "";
    const given = { ...own, ...(people.length === 1 && column === "sigma" ? { sigma: people[0].sigma } : {}) };
    if (given.sensitivity === 1) delete given.sensitivity;
    const options = [`--delta ${smallNumber(delta)}`], keywords = [`delta=${smallNumber(delta)}`];
    if (mechanism !== START.mechanism) {
      options.push(`--mechanism ${mechanism}`, ...Object.entries(given).map(([name, value]) => `--${name} ${name === "matrix" ? file : value}`));
      const inside = Object.entries(given).map(([name, value]) => `${name}=${name === "matrix" ? `[${rows.map((row) => `[${row}]`)}]` : JSON.stringify(value)}`);
      keywords.push(kind ? `mechanism=gspa.${kind}(${inside.join(", ")})` : `mechanism="${mechanism}"`);
    }
    if (rounds > 1) {
      options.push(`--rounds ${rounds}`);
      keywords.push(`rounds=${rounds}`);
    }
    const asked = target === null ? {} : { target_eps: target }, who = groups ? {} : people.length === 1 && column === "eps" ? { eps: people[0].eps, n } : { n };
    const numbers = Object.entries({ ...asked, ...who }), words = numbers.map(([name, value]) => `${name}=${value}`), listed = groups && people.length <= INLINE && column === "eps";
    if (groups) words.push(listed ? `budgets=from_array([${list("eps")}], count=[${list("count")}])` : 'budgets="budgets.csv"');
    const flags = [...numbers.map(([name, value]) => `--${name.replace("_", "-")} ${value}`), ...(groups ? ["--budgets budgets.csv"] : [])];
    const verb = target === null ? "epsilon" : "calibrate", published = target === null && ["rr", "common", "krr", "laplace"].includes(mechanism);
    return {
      file, csv,
      command: [`gspa ${verb}`, ...flags, ...options].join(" "),
      python: `import gspa${listed ? "\nfrom gspa.accountant.budgets import from_array" : ""}\ngspa.${verb}(${[...words, ...keywords].join(", ")})`,
      bounds: published ? ["gspa bounds", ...flags, options[0], `--mechanism ${mechanism}`].join(" ") : "",
    };
  }

  Object.assign(gspa, { START, RANGES, isBits, validFor, kindOf, columnOf, usedIn, read, toHash, fromHash, elsewhere, plainly, smallNumber, rounded });
});
