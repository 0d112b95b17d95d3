// Binary randomized response without any reduction: the law of the number of ones, gspa/accountant/exact.py.
//
// At fixed inputs of the others a threshold on the number of ones is the best test; all inputs are tried. A crowd is
// {victim, eps, count}: the largest eps, and the others in groups, the number of ones of each group being its input.
"use strict";
(self.gspaParts = self.gspaParts || []).push(function (gspa) {
  const MOST_INPUTS = 2 ** 16; // choices of the others' inputs up to which all are tried
  const LEFT_OUT = 44; // e^-44: tilted mass outside one period of the sum, on each side
  const CUT = 50; // terms of the sum below e^-50 are not formed
  const UNIT = 2 ** -52, LARGEST = 700, KEPT = 32, TINY = 4e-16;
  const expit = (x) => 1 / (1 + Math.exp(-x));
  const plus = (x) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x))); // log(1 + e^x)

  // The others of the user with the largest eps; null if they are too many to try all their inputs.
  function crowdOf(people) {
    const last = people.length - 1, eps = people.map((group) => group.eps);
    const count = people.map((group, i) => group.count - (i === last ? 1 : 0));
    const choices = eps.reduce((product, e, g) => product * (e > 0 ? count[g] + 1 : 1), 1);
    return choices <= MOST_INPUTS ? { victim: eps[last], eps, count, choices } : null;
  }

  // At eps in [0, eps_n): a function of the numbers of ones to [delta, a bound on its error]. It is the sum over one
  // period of the characteristic function, tilted so that the best threshold is in the middle.
  function tilted({ victim, eps: own, count }, eps) {
    const both = -Math.expm1(-eps - victim), spare = -Math.expm1(eps - victim), lie = Math.exp(-victim);
    const scale = spare / (1 + lie), rest = -Math.expm1(-eps) * (1 + lie) / both, rho = Math.exp(-eps) * spare / both;
    const tilt = rest < 0.5 ? -Math.log1p(-rest) : eps + Math.log(both / spare);
    const of = (odds) => {
      const p = expit(odds + tilt), variance = p * expit(-odds - tilt);
      const log = tilt < 1 ? Math.log1p(Math.expm1(tilt) * expit(odds)) : plus(odds + tilt) - plus(odds);
      return { p, variance, log: log - tilt * p };
    };
    const zero = own.map((e) => of(-e)), one = own.map(of), sum = (f) => count.reduce((total, c, g) => total + c * f(g), 0);
    const size = tilt < 1 ? 0 : sum((g) => own[g] + tilt), n = sum(() => 1);
    const least = sum((g) => Math.min(zero[g].variance, one[g].variance)), most = sum((g) => Math.max(zero[g].variance, one[g].variance));
    const top = sum((g) => Math.max(zero[g].p, one[g].p)) + 2;
    const half = Math.floor(Math.min(n, LEFT_OUT / 3 + Math.sqrt(LEFT_OUT ** 2 / 9 + 2 * LEFT_OUT * most)) + 3), period = 2 * half + 1;
    let terms = half + 1;
    if (2 * least > CUT) terms = Math.min(terms, Math.ceil(Math.asin(Math.sqrt(CUT / (2 * least))) * period / Math.PI) + 2);
    const table = () => new Float64Array(terms), s = table(), kernel = [table(), table()], step = [table(), table()];
    const cos = table(), sin = table(), blur = table(), sway = table();
    const logs = own.map(() => [table(), table()]), angles = own.map(() => [table(), table()]); // at 0, and what a one adds
    for (let f = 0; f < terms; f++) {
      const t = s[f] = 2 * Math.PI / period * f, h = Math.sin(t / 2), weight = (f ? 2 : 1) / period;
      cos[f] = Math.cos(t);
      sin[f] = Math.sin(t);
      own.forEach((_, g) => {
        const [a, b] = [zero[g], one[g]].map(({ p, variance }) => [
          0.5 * Math.log1p(-4 * variance * h * h), Math.atan2(p * sin[f], 1 - 2 * p * h * h) - p * t,
        ]);
        [logs[g][0][f], angles[g][0][f]] = a;
        [logs[g][1][f], angles[g][1][f]] = [b[0] - a[0], b[1] - a[1]];
      });
      const x = 2 * h * h, y = 2 * h * Math.cos(t / 2), end = rest * rho ** half; // 1 - e^{-it} = x + iy
      let [u, v] = [x + end * Math.cos(t * (half + 1)), y - end * Math.sin(t * (half + 1))];
      if (f === 0) [u, v] = [rho ** half, 0];
      else {
        const a = rest + rho * x, b = rho * y, norm = a * a + b * b;
        [u, v] = [(u * a + v * b) / norm, (v * a - u * b) / norm];
      }
      const rounding = 16 * UNIT * (4 + t * top) * weight;
      [kernel[0][f], kernel[1][f], step[0][f], step[1][f]] = [u * weight, v * weight, x * weight, y * weight];
      [blur[f], sway[f]] = [Math.hypot(u, v) * rounding, 2 * rounding];
    }
    // Sums over all groups but the last, which are kept while the last one's number of ones changes.
    const last = own.length - 1, logBase = table(), angleBase = table(), left = 4 * Math.exp(-LEFT_OUT);
    const slack = 16 * UNIT * (2 + 2 * tilt * top + size);
    let known = null, meanBase = 0, exponentBase = 0;
    function prepare(ones) {
      known = ones.slice(0, last);
      logBase.fill(0);
      angleBase.fill(0);
      meanBase = exponentBase = 0;
      own.forEach((_, g) => {
        const k = g < last ? ones[g] : 0;
        meanBase += count[g] * zero[g].p + k * (one[g].p - zero[g].p);
        exponentBase += count[g] * zero[g].log + k * (one[g].log - zero[g].log);
        for (let f = 0; f < terms; f++) {
          logBase[f] += count[g] * logs[g][0][f] + k * logs[g][1][f];
          angleBase[f] += count[g] * angles[g][0][f] + k * angles[g][1][f];
        }
      });
    }
    return (ones) => {
      if (!known || known.some((k, g) => k !== ones[g])) prepare(ones);
      const k = ones[last], more = logs[last][1], turn = angles[last][1];
      const mean = meanBase + k * (one[last].p - zero[last].p), exponent = exponentBase + k * (one[last].log - zero[last].log);
      const m = Math.floor(mean + 8 * UNIT * (1 + mean)), lag = m - mean;
      let below = 0, at = 0, above = 0, before = 0, after = 0, spread = left, shake = left;
      for (let f = 0; f < terms; f++) {
        const log = logBase[f] + k * more[f];
        if (log < -CUT) continue;
        const wide = Math.exp(log), phase = angleBase[f] + k * turn[f] - lag * s[f], a = wide * Math.cos(phase), b = wide * Math.sin(phase);
        const c = cos[f], d = sin[f], real = a * kernel[0][f] - b * kernel[1][f], imaginary = a * kernel[1][f] + b * kernel[0][f];
        below += real * c - imaginary * d; // the threshold m - 1, m and m + 1
        at += real;
        above += real * c + imaginary * d;
        const fall = a * step[0][f] - b * step[1][f], drift = a * step[1][f] + b * step[0][f];
        before += fall * c - drift * d; // t(m-1) - t(m) and t(m) - t(m+1), tilted
        after += fall;
        spread += wide * blur[f];
        shake += wide * sway[f];
      }
      // A threshold only where the tilted mode may be at it: the tilted law rises up to its mode, then falls.
      const may = [before >= -shake, before <= shake && after >= -shake, after <= shake];
      let value = 0, error = 0;
      [below, at, above].forEach((inside, j) => {
        if (!may[j]) return;
        const factor = scale * Math.exp(Math.min(exponent - tilt * lag + tilt * (1 - j), LARGEST));
        value = Math.max(value, factor * inside);
        error = Math.max(error, factor * (spread + slack * Math.abs(inside)));
      });
      return [value, error];
    };
  }

  // {lower, value, upper, rows} of the largest delta over rows of numbers of ones, best first.
  function best(crowd, eps, rows) {
    if (eps >= crowd.victim) return { lower: 0, value: 0, upper: 0, rows: [crowd.count.map(() => 0)] };
    const at = tilted(crowd, eps);
    let kept = [], least = -1, lower = 0, upper = 0;
    for (const ones of rows) {
      const [value, error] = at(ones);
      lower = Math.max(lower, value - error);
      upper = Math.max(upper, value + error);
      if (value <= least) continue;
      kept.push({ value, ones: ones.slice() });
      if (kept.length < 4 * KEPT) continue;
      kept = kept.sort((a, b) => b.value - a.value).slice(0, KEPT);
      least = kept[KEPT - 1].value;
    }
    kept = kept.sort((a, b) => b.value - a.value).slice(0, KEPT);
    const { value } = kept[0];
    return { lower: Math.min(lower, value), value, upper, rows: kept.map(({ ones }) => ones) };
  }

  // Every choice of the others' inputs, the last group's changing fastest; a report of eps = 0 does not depend on its.
  function* everyInput({ eps, count }) {
    const ones = count.map(() => 0), most = count.map((c, g) => (eps[g] > 0 ? c : 0));
    for (;;) {
      yield ones;
      let g = ones.length - 1;
      for (; g >= 0 && ones[g] === most[g]; g--) ones[g] = 0;
      if (g < 0) return;
      ones[g]++;
    }
  }
  const worst = (crowd, eps) => best(crowd, eps, everyInput(crowd));

  // {lower, value, upper} of delta(eps) at the others' worst inputs.
  function exactDelta(crowd, eps) {
    const { lower, value, upper } = worst(crowd, eps);
    return { lower: Math.max(lower, 0), value: Math.min(value, 1), upper: Math.min(upper, 1) };
  }

  // {lower, value, upper} of the least eps at delta: a search with the few worst inputs, a check against all, a proof.
  function exactEpsilon(crowd, delta) {
    const { victim, eps: own, count } = crowd, zero = worst(crowd, 0), most = delta * (1 - TINY), least = delta * (1 + TINY);
    if (victim === 0 || zero.upper <= most) return { lower: 0, value: 0, upper: 0 };
    const at = (y) => victim / (1 + Math.exp(-y)), rows = new Map();
    const add = (found) => found.rows.forEach((ones) => rows.set(ones.join(), ones));
    const excess = (y) => {
      const { value } = best(crowd, at(y), rows.values());
      return value > 0 ? Math.log(value / delta) : -Infinity;
    };
    const variance = own.reduce((total, e, g) => total + count[g] * expit(e) * expit(-e), 0);
    const share = gspa.gaussianGuess({ eps: victim, seen: 1 }, 4 * variance, delta) / victim;
    let y = Math.log(share / (1 - share)), slope = 0, last = Infinity;
    add(zero);
    for (let i = 0; i < 6; i++) {
      add(worst(crowd, at(y)));
      if (excess(y) === last) break; // no worse inputs appeared
      ({ x: y, slope } = gspa.findRoot(excess, y));
      last = excess(y);
    }
    const found = best(crowd, at(y), rows.values()), wide = (found.upper - found.lower) / delta + 2e-11;
    const push = slope < 0 ? Math.min(2 * wide / -slope, 1) : 1e-9;
    const upper = gspa.prove((eps) => worst(crowd, eps).upper <= most, y, push, at, victim);
    const lower = gspa.prove((eps) => best(crowd, eps, rows.values()).lower >= least, y, -push, at, 0);
    return { lower, value: Math.min(Math.max(at(y), lower), upper), upper };
  }

  Object.assign(gspa, { MOST_INPUTS, crowdOf, exactDelta, exactEpsilon });
});
