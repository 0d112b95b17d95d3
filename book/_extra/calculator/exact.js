// Binary randomized response without any reduction: the law of the number of ones, gspa/accountant/exact.py.
//
// At fixed inputs of the others a threshold on the number of ones is the best test; all inputs are tried. A crowd is
// {victim, eps, count}: the victim's eps, and the others in groups, the number of ones of each group being its input.
"use strict";
(self.gspaParts = self.gspaParts || []).push(function (gspa) {
  const MOST_INPUTS = 2 ** 16; // choices of the others' inputs up to which all are tried
  const LEFT_OUT = 44; // e^-44: tilted mass outside one period of the sum, on each side
  const CUT = 50; // terms of the sum below e^-50 are not formed
  const UNIT = 2 ** -52, LARGEST = 700;
  const BAND = 1e-6; // of delta, in which an eps is good enough: a value is exact but for roundings
  const expit = (x) => 1 / (1 + Math.exp(-x));
  const plus = (x) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x))); // log(1 + e^x)

  // The others of a user of one group, and how many choices of inputs they have.
  function crowdOf(people, of) {
    const eps = people.map((group) => group.eps), count = people.map((group, i) => group.count - (i === of ? 1 : 0));
    return { victim: eps[of], eps, count, choices: eps.reduce((product, e, g) => product * (e > 0 ? count[g] + 1 : 1), 1) };
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
    const left = 4 * Math.exp(-LEFT_OUT), slack = 16 * UNIT * (2 + 2 * tilt * top + size);
    return (ones) => {
      const mean = sum((g) => zero[g].p) + ones.reduce((total, k, g) => total + k * (one[g].p - zero[g].p), 0);
      const exponent = sum((g) => zero[g].log) + ones.reduce((total, k, g) => total + k * (one[g].log - zero[g].log), 0);
      const m = Math.floor(mean + 8 * UNIT * (1 + mean)), lag = m - mean;
      let below = 0, at = 0, above = 0, before = 0, after = 0, spread = left, shake = left;
      for (let f = 0; f < terms; f++) {
        let log = 0, phase = -lag * s[f];
        for (let g = 0; g < own.length; g++) {
          log += count[g] * logs[g][0][f] + ones[g] * logs[g][1][f];
          phase += count[g] * angles[g][0][f] + ones[g] * angles[g][1][f];
        }
        if (log < -CUT) continue;
        const wide = Math.exp(log), a = wide * Math.cos(phase), b = wide * Math.sin(phase);
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

  // A problem as `hidden` in families.js has it, and `least`, not above delta(eps); null if the inputs are too many.
  function exactProblem(people, of = people.length - 1) {
    const crowd = crowdOf(people, of), known = new Map();
    if (crowd.choices > MOST_INPUTS) return null;
    const ends = (eps) => {
      if (!known.has(eps)) {
        const at = tilted(crowd, eps), found = { lower: 0, upper: 0 };
        for (const ones of everyInput(crowd)) {
          const [value, error] = at(ones);
          found.lower = Math.max(found.lower, value - error);
          found.upper = Math.max(found.upper, value + error);
        }
        known.set(eps, found);
      }
      return known.get(eps);
    };
    const { victim, eps, count, choices } = crowd, variance = eps.reduce((total, e, g) => total + count[g] * expit(e) * expit(-e), 0);
    return {
      top: victim, band: BAND, mu: Math.tanh(victim / 2) / Math.sqrt(variance), choices,
      delta: (at) => (at >= victim ? 0 : Math.min(ends(at).upper, 1)), least: (at) => (at >= victim ? 0 : ends(at).lower),
    };
  }

  Object.assign(gspa, { exactProblem });
});
