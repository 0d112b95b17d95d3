// What answers a setting: the central eps, what an attacker gains, the curve, each group's own eps, and the inverse.
"use strict";
(self.gspaParts = self.gspaParts || []).push(function (gspa) {
  const { exp, log, max, min } = Math;
  const POINTS = { exact: 30 * 8192, noise: 25, table: 60 }; // of the curve; for the exact law, over the choices of inputs
  const PER = { noise: 10, table: 20 }; // values of a round's curve in a standard deviation of its loss
  // Of calibrating without noise, with it, and with several groups' over rounds, where each value is dear and eps jumps by
  // 1% with the choice of B: how close it is, relative to eps, and to the number; and so near the same B serve.
  const CLOSE = { exact: 1e-4, one: 1e-4, many: 0.01 }, NARROW = { exact: 1e-6, one: 5e-4, many: 2e-3 }, STEADY = { exact: 0, one: 0.015, many: 0.1 };
  const TRIED = 60, FAR = 0.1, FEW = 0.4; // settings; so far from the target that part of a curve's values will do
  const MOST_MU = 40, MOST_EPS = 600; // of the limit, which says little beyond; of a local eps
  const LARGEST = 0.01; // delta for which B are chosen: what they may miss grows with it
  const EACH = 8; // groups of which each one's own eps is found
  const RATES = [0.01, 0.001]; // false-positive rates
  const PAPERS = ["rr", "duchi", "aligned", "common"]; // where the paper's mu is shown
  const METHODS = {
    exact: "exact law of the number of ones, worst of all inputs",
    pair: "dominating pair, certified sum over the number of clones",
    table: "reports hidden among draws from one common law",
    discrete: "reports hidden among draws from one common law, any finite randomizers",
    noise: "privacy blanket",
    rounds: "composition of dominating pairs, Fourier transform on a grid from both sides",
  };
  const NOTES = {
    many: "the dominating pair, because the exact law is evaluated up to 65,536 choices of the others' inputs",
    rounds: "the dominating pair, because rounds compose pairs, not the exact law",
  };

  const isNoise = (mechanism) => mechanism === "laplace" || mechanism === "gaussian";

  // {kind, exact, top, victims(about, only), alone(delta, only)}: the victims, or the one of a group, for about a delta;
  // what reports with Gaussian noise guarantee if nobody hides them.
  function problemOf({ mechanism, own, people, n, delta, rounds, chosen }) {
    const known = new Map(), noise = isNoise(mechanism), bits = gspa.isBits({ mechanism, own });
    const gap = (one) => (mechanism === "laplace" ? one.eps : own.sensitivity / one.sigma);
    const exact = bits && rounds === 1 ? gspa.exactProblem(people) : null;
    const make = (about, only) => {
      if (noise) return gspa.lineVictims(mechanism, people.map((one) => ({ gap: gap(one), count: one.count })), about, rounds, only, chosen);
      if (mechanism === "discrete") return [gspa.matrixProblem(own.matrix, n)];
      if (exact) return [only === null ? exact : gspa.exactProblem(people, only)];
      return [gspa.namedProblem(people, bits ? "rr" : mechanism, own, only ?? undefined)];
    };
    const victims = (about, only = null) => {
      const key = `${only} ${noise ? Math.round(Math.log10(about)) : ""}`; // to a power of ten
      if (!known.has(key)) known.set(key, make(about, only));
      return known.get(key);
    };
    const kind = exact ? "exact" : noise ? "noise" : mechanism === "discrete" ? "discrete" : bits || ["aligned", "common"].includes(mechanism) ? "pair" : "table";
    return {
      kind, exact, victims, rounds, top: rounds * victims(delta).reduce((most, one) => max(most, one.top), 0),
      alone: (delta, only = null) => (mechanism === "gaussian"
        ? gspa.gdpEpsilon(delta, Math.sqrt(rounds) * max(...(only === null ? people : [people[only]]).map(gap))) * (1 + 1e-9) : Infinity),
    };
  }

  // A generator of {epsilon, delta(eps), deltas(list)} of a problem at about a delta: upper ends.
  function* solved(problem, delta, only = null, share = 1) {
    const { victims, rounds, kind } = problem;
    if (rounds > 1) {
      const all = yield* gspa.composed(victims(delta, only), rounds, delta, share * (PER[kind] ?? PER.table)), deltas = (list) => gspa.composedDeltas(all, list);
      return { epsilon: () => min(gspa.composedEpsilon(all, delta), problem.alone(delta, only)), delta: (eps) => deltas([eps])[0], deltas };
    }
    let like = 0; // the mu of the Gaussian with the last value, at first of the limit
    const at = (eps) => {
      const worst = (about) => victims(about, only).reduce((most, one) => max(most, one.delta(eps, most)), 0);
      if (kind !== "noise") return worst(delta);
      like ||= min(victims(delta, only).reduce((most, { mu }) => max(most, mu), 0), MOST_MU);
      // The best B depends on the delta that comes out. For one that is far too small they are so bad that it is no guide.
      let about = gspa.gdpDelta(eps, like), least = 1;
      for (let i = 0; i < 4; i++) {
        about = min(max(about, 1e-30), LARGEST);
        const found = worst(about), good = found > 0.3 * about && (found < 3 * about || about === LARGEST);
        least = min(least, found);
        if (good || found === 0) break;
        about = found < about ? found : Math.sqrt(about * found);
      }
      least = min(least, worst(least > 3 * LARGEST ? min(least, 0.25) : delta)); // better, perhaps, far from the guess
      if (least > 0 && least < 1) like = gspa.fitted(eps, least);
      return least;
    };
    return { epsilon: () => min(gspa.epsilonOf(victims(delta, only), delta), problem.alone(delta, only)), delta: at, deltas: null };
  }

  // Where a function that falls by about 1 from y to y + 1 is about 0.
  function root(of, y) {
    for (let i = 0, last = null; i < 8; i++) {
      const now = { y, value: of(y) }, slope = last ? (last.value - now.value) / (y - last.y) : 1;
      if (Math.abs(now.value) < 0.1 * CLOSE.one) break;
      y += max(-1, min(1, now.value / (slope > 0.1 && slope < 10 ? slope : 1)));
      last = now;
    }
    return y;
  }

  // About the logarithm of how much larger eps might be; below 0 where the target is missed. One round is asked for its
  // delta at the target, which is a single value, and Gaussians with that delta and the asked one are compared.
  function* spared(problem, target, delta, share) {
    if (problem.rounds > 1) return log(target / (yield* solved(problem, delta, null, share)).epsilon());
    const found = problem.victims(delta).reduce((most, one) => max(most, one.delta(target, most)), 0);
    return log(gspa.fitted(target, delta) / gspa.fitted(target, found));
  }

  // The largest local eps, or the least sigma, or such a factor of all, at which a central eps is met at delta: a number
  // at which it is, as close as pays, and whether it is so at more, too. The Gaussian limit, whose eps is found in no
  // time, tells where to look.
  function* calibrated({ target, ...setting }) {
    const { people, delta, n, rounds, mechanism } = setting, column = gspa.columnOf(setting), sign = column === "eps" ? 1 : -1;
    const asks = !isNoise(mechanism) ? "exact" : people.length > 1 && rounds > 1 ? "many" : "one", close = CLOSE[asks];
    const scaled = (y, chosen) => {
      const x = exp(sign * y), given = people.length > 1 ? people.map((one) => ({ ...one, [column]: one[column] * x })) : [{ [column]: x, count: n }];
      return problemOf({ ...setting, people: given, chosen });
    };
    const limit = ({ top, alone, victims }) => {
      const mu = victims(delta).reduce((most, one) => max(most, one.mu), 0);
      return log(target / min(top, alone(delta), mu < MOST_MU ? gspa.gdpEpsilon(delta, mu * Math.sqrt(rounds)) : Infinity));
    };
    const most = column === "eps" ? log(MOST_EPS / max(1e-300, ...(people.length > 1 ? people.map(({ eps }) => eps) : [1]))) : Infinity;
    let low = { y: -Infinity, spare: Infinity }, high = { y: Infinity, spare: -Infinity }, y = min(most, root((at) => limit(scaled(at)), people.length > 1 ? 0 : sign * log(target)));
    for (let i = 1, last = null, kept = null; i < TRIED && high.y - low.y > NARROW[asks]; i++) {
      if (!(Math.abs(y - kept?.y) < STEADY[asks])) kept = { y, chosen: [] };
      const share = asks !== "many" || Math.abs(last?.spare) < FAR ? 1 : FEW, problem = scaled(y, kept.chosen);
      const spare = yield* spared(problem, target, delta, share), here = limit(problem);
      const now = { y, spare, beyond: spare - here, forward: rounds > 1 && kept.y === y && share === 1 };
      if (spare >= 0) low = now;
      else if (share === 1 || spare < -FAR) high = now;
      if (low.spare < close || low.y === most) break;
      yield {};
      // The limit carried on from here, if it is as far off as before; else the straight line through the last two.
      const [drift, falls] = last ? [now.beyond - last.beyond, spare - last.spare].map((change) => change / (y - last.y)) : [0, -1];
      const lacking = spare - 0.5 * close, from = y;
      const next = Math.abs(drift) < 0.5 ? root((at) => limit(scaled(at)) - here + drift * (at - from) + lacking, from) : from - lacking / falls;
      if (i % 12 && next > low.y && next < high.y && Math.abs(next - from) < 1) y = next;
      else if (high.y < Infinity && low.y > -Infinity) y = (low.y + high.y) / 2;
      else y = min(most, y + Math.sign(spare) * min(max(Math.abs(spare), 0.05), 1) * (1 + i / 4));
      last = now;
    }
    // Unless this very question was asked: the forward one chooses its B for this number alone, and may be a little larger.
    for (let i = 1; i < TRIED && low.y > -Infinity && !low.forward; i++) {
      const spare = log(target / (yield* solved(scaled(low.y), delta)).epsilon());
      if (spare >= 0) break;
      low.y -= asks === "exact" ? 0.1 * close * 2 ** i : i * max(-spare, 0.1 * close);
    }
    return { found: exp(sign * low.y), more: low.y === most };
  }

  function warningsOf({ delta, n }) {
    const rests = "this rests on a shuffler that is trusted, and on users who do not collude with the analyzer: if some may, ask the " +
      "command line with --honest, the number who do not";
    if (!(delta >= 1 / n)) return [rests];
    return [`delta = ${gspa.smallNumber(delta)} is at least 1/n: a mechanism that publishes one record in full could meet this`, rests];
  }

  // Where the curve is drawn: to just beyond both eps, if the paper's is not many times the certified one.
  function pointsOf(upper, paper, top, points) {
    const least = max(upper, 1e-3 * top) || 1, most = 1.2 * max(least, min(Number.isFinite(paper) ? paper : 0, 8 * least));
    return Array.from({ length: points }, (_, i) => most * i / (points - 1));
  }

  // The answer in parts, the quick ones first: {upper, mu, paper, refuted, method, holds, proved, note, warnings}, {rates},
  // {each}, {curve: {eps, pair, gaussian}}; to the inverse question {found, more, method, ...} alone. Each call of next()
  // is one piece of work.
  function* answer(setting) {
    const { mechanism, people, delta, rounds, target } = setting, bits = gspa.isBits(setting);
    const wordsOf = ({ kind, exact }, proved) => ({
      method: METHODS[rounds > 1 ? "rounds" : kind], holds: gspa.validFor(setting, exact !== null, proved), proved, warnings: warningsOf(setting),
      note: mechanism === "rr" && rounds > 1 ? NOTES.rounds : bits && rounds === 1 && !exact ? NOTES.many : "",
    });
    const noisy = people.length > 1 && isNoise(mechanism); // the worst values are proved for the least noise
    if (target !== null) {
      const { found, more } = yield* calibrated(setting), column = gspa.columnOf(setting);
      yield { found, more, ...wordsOf(problemOf(people.length > 0 ? setting : { ...setting, people: [{ [column]: found, count: setting.n }] }), !noisy) };
      return;
    }
    const problem = problemOf(setting), { kind, exact } = problem, now = yield* solved(problem, delta), upper = now.epsilon();
    const mu = PAPERS.includes(mechanism) ? gspa.paperMu(people) * Math.sqrt(rounds) : null, paper = mu !== null && Number.isFinite(mu) ? gspa.gdpEpsilon(delta, mu) : Infinity;
    yield { upper, mu, paper, refuted: exact !== null && paper < upper && exact.least(paper) > delta, ...wordsOf(problem, !noisy || (rounds === 1 && problem.victims(delta).slice(1).every((one) => one.alone(upper) <= delta))) };
    if (upper === Infinity) return; // a report may show what some input never sends
    const other = kind === "noise" && rounds > 1 ? yield* solved(problem, 0.01) : now; // whose B suits a larger delta
    yield { rates: yield* gspa.rates((eps) => min(now.delta(eps), other === now ? 1 : other.delta(eps)), RATES, problem.top) };
    if (people.length > 1 && people.length <= EACH) {
      const each = [];
      for (let i = 0; i < people.length; i++) {
        each.push(people[i].eps === 0 ? 0 : min(upper, (yield* solved(problem, delta, i)).epsilon()));
        yield {};
      }
      yield { each };
    }
    const points = exact ? max(13, min(POINTS.table, Math.floor(POINTS.exact / exact.choices))) : POINTS[kind] ?? POINTS.table;
    const eps = pointsOf(upper, paper, Number.isFinite(problem.top) ? problem.top : 1, points), pair = now.deltas?.(eps) ?? [];
    for (const at of pair.length > 0 ? [] : eps) {
      pair.push(now.delta(at));
      yield {};
    }
    yield { curve: { eps, pair, gaussian: mu === null ? [] : eps.map((at) => (Number.isFinite(mu) ? gspa.gdpDelta(at, mu) : 1)) } };
  }

  Object.assign(gspa, { RATES, EACH, problemOf, solved, calibrated, answer });
});
