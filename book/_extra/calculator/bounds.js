// The published bounds on the central eps: published.py, closed_forms.py and blanket_forms.py of
// gspa/accountant in JavaScript. Each refuses outside its conditions, and says why in the same words.
"use strict";
(self.gspaParts = self.gspaParts || []).push(function (gspa) {
  const { expm1, log1p } = Math;

  class Refusal extends Error {}
  const refuse = (condition, detail) => {
    throw new Refusal(`needs ${condition}; ${detail}`);
  };
  const shown = (value) => gspa.smallNumber(Number(value.toPrecision(6)));
  const all = (eps0, n, delta) => `eps0 = ${shown(eps0)}, n = ${n}, delta = ${shown(delta)}`;

  function erlingsson19(eps0, n, delta) {
    if (eps0 > 0.5) refuse("eps0 <= 1/2", `eps0 = ${shown(eps0)}`);
    if (n < 1000) refuse("n >= 1000", `n = ${n}`);
    if (delta > 0.01) refuse("delta <= 0.01", `delta = ${shown(delta)}`);
    const factor = 12 * Math.sqrt(-Math.log(delta) / n);
    if (factor > 1) refuse("n >= 144 log(1/delta)", `at n = ${n} its value exceeds eps0, which no shuffling is needed for`);
    return factor * eps0;
  }

  function needFewClones(eps0, n, delta) {
    const most = Math.log(n / 16) - Math.log(Math.log(2) - Math.log(delta));
    if (eps0 > most) refuse("eps0 <= log(n/(16 log(2/delta)))", all(eps0, n, delta));
  }

  function fmt21(eps0, n, delta) {
    needFewClones(eps0, n, delta);
    const growth = Math.exp(eps0) / n;
    return log1p(Math.tanh(eps0 / 2) * (8 * Math.sqrt(growth * (Math.log(4) - Math.log(delta))) + 8 * growth));
  }

  function clonesBlog(eps0, n, delta) {
    needFewClones(eps0, n, delta);
    return log1p(16 * Math.tanh(eps0 / 2) * Math.sqrt(Math.exp(eps0) / n * (Math.log(4) - Math.log(delta))));
  }

  function fmt23(eps0, n, delta) {
    const room = n / (8 * (Math.log(2) - Math.log(delta))) - 1, most = room > 0 ? Math.log(room) : -Infinity;
    if (eps0 > most) refuse("eps0 <= log(n/(8 log(2/delta)) - 1)", all(eps0, n, delta));
    const spread = Math.sqrt(2 * (Math.log(4) - Math.log(delta)) / ((Math.exp(eps0) + 1) * n)) + 1 / n;
    return log1p(4 * expm1(eps0) * spread);
  }

  function wang24(eps0, n, delta) {
    const beta = Math.tanh(eps0 / 2), log = Math.log(4) - Math.log(delta), r = 1 / (1 + Math.exp(eps0));
    if (beta === 0) return 0;
    if (r * n <= 8 * log) refuse("n > 8 log(4/delta)/r", `r = ${shown(r)}, so n > ${(8 * log / r).toFixed(1)}; n = ${n}`);
    const m = r * (n - 1);
    return log1p(beta * (Math.sqrt(32 * log / m) + 4 / m));
  }

  // gamma, 1 - gamma, and width, top and second moment of L, Balle et al. 2019, Section 5.
  function blanketMoments(eps, eps0, kind) {
    const p = Math.exp(eps0), s = Math.exp(eps), t = expm1(eps);
    if (kind === "generic") {
      const square = p * t * t + 4 * s / p * Math.sinh(2 * eps0);
      return { gamma: 1 / p, rest: -expm1(-eps0), width: (s + 1) * 2 * Math.sinh(eps0), top: s / p * expm1(2 * eps0 - eps), square };
    }
    const gamma = 2 / (p + 1), own = gamma * expm1(eps0);
    const square = gamma * (2 - gamma) * t * t + own * own / 2 * (s * s + 1);
    return { gamma, rest: own / 2, width: own * (s + 1), top: gamma * s * expm1(eps0 - eps), square };
  }

  // (1+u) log(1+u) - u, without cancellation.
  function phi(u) {
    if (u > 0.1) return (1 + u) * log1p(u) - u;
    let total = 0;
    for (let j = 17; j >= 2; j--) total += (-u) ** j / (j * (j - 1));
    return total;
  }

  // log(1 - gamma + gamma e^{-rate}), rate >= 0.
  function logMixture(gamma, rest, rate) {
    const less = -gamma * expm1(-rate);
    return less < 0.5 ? log1p(-less) : Math.log(rest + gamma * Math.exp(-rate));
  }

  function blanketLogDelta(eps, eps0, n, form, kind) {
    const { gamma, rest, width, top, square } = blanketMoments(eps, eps0, kind), t = expm1(eps);
    if (top <= 0) return -Infinity;
    if (form === "hoeffding") {
      return 2 * Math.log(width) - Math.log(4 * t * gamma * n) + n * logMixture(gamma, rest, 2 * (t / width) ** 2);
    }
    const u = t * top / square, factor = u > 0 ? square / t * (u / log1p(u)) : square / t;
    const rate = u > 1e-8 ? square * phi(u) / top ** 2 : t * t / (2 * square);
    const whole = n * logMixture(gamma, rest, rate), none = n * logMixture(gamma, rest, Infinity);
    return Math.log(factor) - Math.log(gamma * n) + (none < whole ? whole + Math.log(-expm1(none - whole)) : -Infinity);
  }

  function blanket(eps0, n, delta, form, kind) {
    if (eps0 < 1e-100) return eps0;
    const target = Math.log(delta) - 1e-11, fits = (eps) => blanketLogDelta(eps, eps0, n, form, kind) <= target;
    let high = eps0 * (1 - 1e-9);
    if (!fits(high)) refuse("n so large that its value is below eps0", `${form}, ${kind}, ${all(eps0, n, delta)}`);
    let low = high / 2;
    while (fits(low)) [high, low] = [low, low / 2];
    while (high - low > 1e-12 * high) {
      const middle = (low + high) / 2;
      if (!(low < middle && middle < high)) break;
      if (fits(middle)) high = middle;
      else low = middle;
    }
    return high;
  }

  const halves = []; // log Gamma(k/2), filled as needed: orders go up to 65536, and every term asks for four
  const logGammaOfHalf = (k) => (halves[k] ??= gspa.logGamma(k / 2));

  // Renyi divergence of an integer order, Girgis et al. 2021.
  function girgisRenyi(eps0, n, order) {
    const logFactorial = (j) => logGammaOfHalf(2 * j + 2), logSinh = (x) => x - Math.log(2) + Math.log(-expm1(-2 * x));
    const m = Math.floor((n - 1) * Math.exp(-eps0) / 2) + 1, scale = 0.5 * (Math.log(2 / m) + 2 * logSinh(eps0));
    const terms = new Float64Array(order);
    for (let j = 3; j <= order; j++) { // C(l,j) j Gamma(j/2)
      const choices = logFactorial(order) - logFactorial(order - j) - logFactorial(j);
      terms[j - 3] = choices + Math.log(j) + logGammaOfHalf(j) + j * scale;
    }
    terms[order - 2] = Math.log(order * (order - 1) / 2) + Math.log(4) + 2 * logSinh(eps0 / 2) - Math.log(m);
    terms[order - 1] = eps0 * order - (n - 1) * Math.exp(-eps0) / 8;
    const top = terms.reduce((a, b) => Math.max(a, b)), sum = terms.reduce((a, b) => a + Math.exp(b - top), 0);
    const excess = top + Math.log(sum);
    return (excess > 0 ? excess + log1p(Math.exp(-excess)) : log1p(Math.exp(excess))) / (order - 1);
  }

  // Its eps at the best integer order found: double until it rises, then halve the bracket.
  function girgis21(eps0, n, delta) {
    if (n < 2) refuse("n >= 2 users", `n = ${n}`);
    if (eps0 === 0) return 0;
    const values = new Map(), largest = 2 ** 16;
    const value = (order) => {
      if (!values.has(order)) {
        const found = girgisRenyi(eps0, n, order) + log1p(-1 / order) - (Math.log(delta) + Math.log(order)) / (order - 1);
        values.set(order, Math.max(0, found));
      }
      return values.get(order);
    };
    let top = 2;
    while (2 * top <= largest && value(2 * top) < value(top)) top *= 2;
    let low = Math.max(2, top / 2), high = Math.min(2 * top, largest);
    while (high - low > 2) {
      const middle = Math.floor((low + high) / 2);
      if (value(middle) <= value(middle + 1)) high = middle + 1;
      else low = middle;
    }
    [low, high, Math.floor((low + high) / 2)].forEach(value);
    return Math.min(...values.values());
  }

  const constantPair = (mechanism) => (eps0, n, delta) =>
    gspa.epsilonOf(gspa.problemOf([{ eps: eps0, count: n }], mechanism), delta).upper;

  function gspaEpsilon(budgets, delta) {
    const n = budgets.reduce((total, { count }) => total + count, 0), mu = gspa.paperMu(budgets);
    if (n < 2) refuse("n >= 2 users", `n = ${n} leaves nobody to hide among`);
    if (!Number.isFinite(mu)) refuse("sum_i r_i > max_i r_i", "the eps are too large to hide anybody");
    return gspa.gdpEpsilon(delta, mu);
  }

  // `families`: "common" stands for all; a bound without `epsilon` holds for neither mechanism of the page.
  const ANY = ["common", "rr"], BITS = ["rr"];
  const CATALOGUE = [
    { key: "gspa", label: "GSPA", source: "Chen, Cao and Ge 2024, Theorem 2", families: BITS, rigorous: false, personal: gspaEpsilon },
    { key: "erlingsson19", label: "Erlingsson19", source: "Erlingsson et al. 2019", families: ANY, epsilon: erlingsson19 },
    { key: "fmt21", label: "FMT21", source: "Feldman, McMillan and Talwar 2021, Theorem 3.1", families: ANY, epsilon: fmt21 },
    { key: "clones_blog", label: "Clones blog", source: "Canonne 2022, eq. (1)", families: ANY, epsilon: clonesBlog },
    { key: "fmt23", label: "FMT23", source: "Feldman, McMillan and Talwar 2023, Theorem 3.2", families: BITS, epsilon: fmt23 },
    { key: "wang24", label: "Wang24", source: "Wang et al. 2024, at the largest total variation", families: BITS, epsilon: wang24 },
    { key: "blanket_hoeffding", label: "Blanket, Hoeffding", source: "Balle et al. 2019, generic constants", families: ANY,
      epsilon: (eps0, n, delta) => blanket(eps0, n, delta, "hoeffding", "generic") },
    { key: "blanket_bennett", label: "Blanket, Bennett", source: "Balle et al. 2019, generic constants", families: ANY,
      epsilon: (eps0, n, delta) => blanket(eps0, n, delta, "bennett", "generic") },
    { key: "blanket_rr", label: "Blanket, RR", source: "Balle et al. 2019, Hoeffding form for two answers", families: BITS,
      epsilon: (eps0, n, delta) => blanket(eps0, n, delta, "hoeffding", "krr") },
    { key: "blanket_laplace", label: "Blanket, Laplace", source: "Balle et al. 2019, Laplace noise", families: [] },
    { key: "su25", label: "Su25 (blanket, evaluated)", source: "Su, Cheng and Wang 2025, Laplace noise", families: [] },
    { key: "liu24", label: "Liu24", source: "Liu et al. 2024, Laplace noise", families: [], rigorous: false },
    { key: "liu23", label: "Liu23", source: "Liu et al. 2023, clipped Laplace noise", families: [], rigorous: false },
    { key: "fmt21_numerical", label: "FMT21, numerical", source: "Feldman et al. 2021, the pair evaluated", families: ANY, epsilon: constantPair("common") },
    { key: "fmt23_numerical", label: "FMT23, numerical", source: "Feldman et al. 2023, the pair evaluated", families: BITS, epsilon: constantPair("rr") },
    { key: "girgis21", label: "Girgis21 (Renyi)", source: "Girgis et al. 2021, best integer order", families: ANY, epsilon: girgis21 },
  ];
  const NAMES = { rr: "binary randomized response", common: "one pure eps0-LDP randomizer for all users, any" };

  // One row: {key, label, source, epsilon (null if it refuses), valid, rigorous, trivial, note}. Binary randomized response
  // with a smaller eps is the one of the largest with its input randomized first, so that a bound for one common eps0
  // holds, given the largest.
  function bound(entry, budgets, delta, mechanism) {
    const eps0 = budgets[budgets.length - 1].eps, n = budgets.reduce((total, { count }) => total + count, 0);
    const row = { key: entry.key, label: entry.label, source: entry.source, epsilon: null, rigorous: entry.rigorous !== false, notes: [] };
    if (!entry.families.includes(mechanism)) row.notes.push(`not established for ${NAMES[mechanism]}`);
    else {
      try {
        row.epsilon = entry.personal ? entry.personal(budgets, delta) : entry.epsilon(eps0, n, delta);
      } catch (problem) {
        if (!(problem instanceof Refusal)) throw problem;
        row.notes.push(problem.message);
      }
    }
    row.valid = row.epsilon !== null;
    row.trivial = row.valid && row.epsilon >= eps0;
    if (row.valid && budgets.length > 1 && !entry.personal) row.notes.push(`given the largest eps_i, ${shown(eps0)}, as the common eps0`);
    if (row.valid && !row.rigorous) row.notes.push("an estimate, not a certified upper bound");
    if (row.trivial) row.notes.push("no smaller than the largest eps_i: holds without shuffling");
    return row;
  }

  // Every published bound, the smallest eps first, refusals last.
  function compare(budgets, delta, mechanism) {
    const rows = CATALOGUE.map((entry) => bound(entry, budgets, delta, mechanism));
    return rows.sort((a, b) => (a.epsilon ?? Infinity) - (b.epsilon ?? Infinity) || 0);
  }

  Object.assign(gspa, { Refusal, compare });
});
