// The one theorem (gspa/accountant/random_sum.py): C others are draws from one law B, each by itself with probability
// c_j, and with m = C + 1 and L = (P0 - e^eps P1)/B under B,
//
//   delta(eps) <= E[(L_1 + ... + L_m)_+ / m] + sum over what B misses of (P0 - e^eps P1)_+.
//
// Each file of this folder but calculator.js and chart.js adds one part, a function of the one namespace `gspa`, that
// refers to nothing outside itself: the page calls the parts, and writes their source into its worker. So the site
// works from a folder, without a server, where a browser loads neither modules nor worker files.
"use strict";
(self.gspaParts = self.gspaParts || []).push(function (gspa) {
  const { exp, expm1, log, log1p, max, min } = Math;
  const UNIT = 2 ** -52;
  const DROPPED = 60; // terms below e^-60 of the largest are not formed
  const LONGEST = 400, MOST = 500; // of a period, of an exponent
  const MULTIPLES = [1.1, 1.25, 1.5, 2, 3, 5]; // for Chernoff's bound
  const FEW = 64, FINE = 0.01, COARSE = 0.04; // smoothing of laws of few values, and of many
  const NEIGHBOURS = 16, SAME = 32; // values taken as one, and terms for which one bound serves, where only a size matters
  const DEPTH = 14, DEEPER = 8, DEEPEST = 30; // e^-depth of an expectation may be left to crude bounds
  const LITTLE = 2, POWERS = 26; // a turn, and the powers of it that matter: 2^26/26! is below 2^-52
  const EXCESS = 1e-5; // of 1/m, at about the mean: what few nodes may cost
  const BAND = 1e-4; // of delta, in which an eps is good enough
  const FARTHEST = 1e300; // of a value: e^eps times a ratio may be no double
  const MOST_EPS = 700, EXACT = [10, 20, 30]; // an eps that is as good as none; from here on the allowances for roundings, which grow like e^eps, count

  // Nodes and weights of Radau's quadrature on [0, 1], the first node at 1: exact for powers up to 2 size - 2.
  const rules = [];
  const radau = (size) => (rules[size] ??= Array.from({ length: size }, (_, i) => {
    let x = -Math.cos(2 * Math.PI * i / (2 * size - 1)), before = 1, now = x;
    for (let step = 0; step < 20; step++) {
      [before, now] = [1, x];
      for (let k = 2; k <= size; k++) [before, now] = [now, ((2 * k - 1) * x * now - (k - 1) * before) / k];
      if (i > 0) x -= (before + now) * (1 - x) / (size * (before - now));
    }
    return { u: (1 - x) / 2, weight: i > 0 ? (1 - x) / (size * before) ** 2 / 2 : 1 / size ** 2 };
  }));
  // The same of Laguerre's on [0, infinity), the first node at 0: t, and the weight times e^t.
  const laguerres = [];
  const laguerre = (size) => (laguerres[size] ??= Array.from({ length: size }).reduce((found, _, i) => {
    let t = 0, plain = 1;
    for (let step = 0; i > 0 && step < 60; step++) { // Newton, from the left of all zeros but those found
      let before = 0, now = 1, sum = 0; // L_k^(1), and the sum of those below it
      for (let k = 1; k < size; k++) {
        sum += now;
        [before, now] = [now, ((2 * k - t) * now - k * before) / k];
      }
      plain = now - before;
      t += now / (sum + now * found.slice(1).reduce((all, one) => all + 1 / (t - one.t), 0));
    }
    return [...found, { t, weight: exp(t) / (size * plain * plain) }];
  }, []));

  // {nodes, left()} with sum weight u^(m - 1) >= 1/m, for all m where `left` is null, so that the integral over u in [0, 1]
  // of phi g(phi u) is E[e^(tilt S)/m], from above; else e^left() is not below what that has beyond the sum, over phi.
  // Laguerre's rule for 1/m = (1/least) int e^(-t m/least) dt is above it from m = least on, and close for m near it: a few
  // nodes do if the tilted m is hardly ever less (Chernoff). Else Radau's for [from, 1], of as many nodes as are exact for the
  // powers up to the number of others, or as the depth pays.
  function nodesOf(others, gain, whole, mean, depth) {
    const wanted = (depth + log(mean + 1)) / mean;
    let away = Math.sqrt(2 * wanted);
    for (let i = 0; i < 3 && away < 0.9; i++) away += ((1 - away) * log1p(-away) + away - wanted) / log1p(-away);
    const least = (1 - away) * mean + 1, ratio = (away / (1 - away)) ** 2;
    for (let k = 1, excess = ratio * Math.sqrt(ratio) / 3; away < 0.9 && k < 7; k++, excess *= ratio * (k + 1) / (4 * k + 2)) {
      if (excess > EXCESS) continue;
      const nodes = laguerre(k + 1).map(({ t, weight }) => ({ u: exp(-t / least), weight: weight * exp(-t / least) / least }));
      return { nodes, left: () => whole - mean * ((1 - away) * log1p(-away) + away) };
    }
    const n = others.reduce((sum, { count }) => sum + count, 0), from = max(0, 1 - (depth + 4) / mean), low = (1 + gain) * from - 1;
    const nodes = radau(min(3 + Math.ceil(depth / 2), 2 + Math.ceil(n / 2))).map(({ u, weight }) => ({ u: 1 - (1 - from) * (1 - u), weight: (1 - from) * weight }));
    const rise = () => others.reduce((total, { c, count }) => total + count * c * (1 + gain) / (1 + c * low), 0); // log g(phi u) is concave in u
    return { nodes, left: from > 0 ? () => logPower(others, low) - log(rise()) : null };
  }

  // What is known at one tilt of E[e^(tilt S)/m], S the sum of m values, with phi = E[e^(tilt L)] and g(s) = E[s^C].
  function moment({ values, masses }, others, tilt, depth, given = null) {
    let gain = 0, slope = 0, sum = 0; // phi - 1, and its derivative
    for (let i = 0; i < values.length; i++) {
      const grown = masses[i] * expm1(tilt * values[i]);
      gain += grown;
      slope += (grown + masses[i]) * values[i];
    }
    const whole = logPower(others, gain), mean = others.reduce((total, { c, count }) => total + count * c * (1 + gain) / (1 + c * gain), 0);
    const { nodes, left } = given ? { nodes: given } : nodesOf(others, gain, whole, mean, depth);
    for (const { u, weight } of nodes) sum += weight * exp(logPower(others, (1 + gain) * u - 1) - whole);
    return { gain, slope, mean, nodes, left, whole, size: log1p(gain) + whole + log(sum) };
  }

  // log g(1 + gain)
  const logPower = (others, gain) => others.reduce((sum, { c, count }) => sum + count * log1p(c * gain), 0);

  // The tilt at which size - 2 log tilt is least; any is valid.
  function saddle(table, others, top, far, depth) {
    const n = others.reduce((sum, { c, count }) => sum + c * count, 1);
    let low = 1e-3 / n / far, high = 1e3 / top;
    for (let i = 0; i < 26; i++) {
      const middle = Math.sqrt(low) * Math.sqrt(high), { slope, whole, size } = moment(table, others, middle, depth);
      if (middle * slope * exp(whole - size) < 2) low = middle;
      else high = middle;
    }
    return low;
  }

  // E[e^(itx)] - 1 at t = 0, step, ...: of what turns little in all of them by its moments, of the rest each turn by the
  // one before, so that the error grows by a unit a step. Two values at a time, which do not wait for each other.
  function characteristic(x, p, step, terms) {
    const real = new Float64Array(terms), imaginary = new Float64Array(terms), moments = new Float64Array(POWERS), far = [];
    for (let i = 0; i < x.length; i++) {
      const turn = step * (terms - 1) * x[i];
      if (Math.abs(turn) > LITTLE) far.push(i);
      else for (let k = 1, power = p[i]; k < POWERS; k++) moments[k] += power *= turn / k;
    }
    for (let k = 1; k < terms; k++) {
      const share = k / (terms - 1), square = -share * share;
      let even = 0, odd = 0;
      for (let j = POWERS - 2; j >= 0; j -= 2) {
        even = even * square + moments[j];
        odd = odd * square + moments[j + 1];
      }
      real[k] = even;
      imaginary[k] = share * odd;
    }
    const turns = (i) => (i < far.length ? [-2 * Math.sin(step * x[far[i]] / 2) ** 2, Math.sin(step * x[far[i]]), p[far[i]]] : [0, 0, 0]);
    for (let i = 0; i < far.length; i += 2) {
      const [c, s, mass] = turns(i), [d, t, other] = turns(i + 1), [first, second, third, fourth] = [mass * c, mass * s, other * d, other * t];
      for (let k = 1, a = first, b = second, e = third, f = fourth; k < terms; k++) {
        real[k] += a + e;
        imaginary[k] += b + f;
        const [turned, again] = [a + first + a * c - b * s, e + third + e * d - f * t];
        b += second + a * s + b * c;
        f += fourth + e * t + f * d;
        a = turned;
        e = again;
      }
    }
    return { real, imaginary };
  }

  // How many terms there are up to the last at which E[e^(itx)] is not so near 0 that `small`. Neighbours taken as one at
  // their mean change it by at most t^2/2 times their spread around it, and by twice their mass.
  function needed(x, p, step, terms, small) {
    const groups = Math.ceil(x.length / NEIGHBOURS), mass = new Float64Array(groups), mean = new Float64Array(groups), spread = new Float64Array(groups);
    const each = (add) => x.forEach((value, i) => add(Math.floor(i / NEIGHBOURS), value, p[i]));
    each((at, value, share) => (mass[at] += share));
    each((at, value, share) => (mean[at] += share > 0 ? share / mass[at] * value : 0));
    each((at, value, share) => (spread[at] += share * (value - mean[at]) ** 2));
    const { real, imaginary } = characteristic(mean, mass, step, terms);
    let last = terms, change = 0; // which grows with t
    for (; last > 2; last--) {
      const t = step * (last - 1);
      if ((terms - last) % SAME === 0) change = mass.reduce((sum, share, at) => sum + min(2 * share, t * t / 2 * spread[at]), 0);
      if (!small(t, Math.hypot(1 + real[last - 1], imaginary[last - 1]) + change)) break;
    }
    return last;
  }

  // Not below E[(L_1 + ... + L_m)_+/m] for {values, masses} of L and others in groups {c, count}. With S tilted by
  // e^(lambda S), z = 1 + it and t_k = 2 pi k/P,
  //   lambda E[S_+/m] <= (1/P) sum_k H(lambda z_k) e^(spread z_k^2/2) / z_k^2,   H(z) = E[e^(z S)/m],
  // because the other periods' terms are positive, and so is what a small independent Gaussian adds. What the sum
  // leaves out at its end, and roundings, are added. Nobody hides the victim with probability g(0), which needs no sum.
  // `hint` keeps a depth from one eps to the next, and may have a smoothing of one's own.
  function expectation(table, others, hint = { depth: DEPTH }) {
    const { values, masses } = table, { depth } = hint, size = values.length;
    let top = 0, far = 0, alone = 0;
    for (let i = 0; i < size; i++) {
      top = max(top, values[i]);
      far = max(far, Math.abs(values[i]));
      alone += masses[i] * max(values[i], 0) * (1 + (size + 4) * UNIT);
    }
    if (top === 0 || !(far < FARTHEST) || others.every(({ c, count }) => c * count === 0)) return alone;
    const tilt = saddle(table, others, top, far, depth), { gain, nodes, left, mean, size: height } = moment(table, others, tilt, depth);
    if (!(height < MOST)) return alone; // values so far apart that no tilt brings them together
    const images = MULTIPLES.map((a) => moment(table, others, a * tilt, depth, nodes).size - height + 0.02 * a * a);
    let period = max(20, 12 - height);
    if (period > LONGEST) return min(alone, exp(height - 1) / tilt); // x_+ <= e^(lambda x)/(e lambda)
    while (min(...MULTIPLES.map((a, i) => images[i] - (a - 1) * period - 1)) > -depth && period < LONGEST) period *= 1.25;
    const smoothing = hint.smoothing ?? (size > FEW ? COARSE : FINE), spread = smoothing * smoothing;
    const step = 2 * Math.PI / period, scale = 1 / (1 + gain);
    const terms = Math.ceil(Math.sqrt(2 * depth + 2) / (smoothing * step)) + 1; // e^-(depth + 1) ends the Fourier sum
    const x = values.map((value) => tilt * value), p = new Float64Array(size);
    let first = 0, plain = 0;
    for (let i = 0; i < size; i++) {
      p[i] = masses[i] * exp(x[i]) * scale;
      first += p[i] * Math.abs(x[i]);
      plain += masses[i] * Math.abs(x[i]);
    }
    const damping = (t) => spread * (1 - t * t) / 2 - log1p(t * t);
    const small = (t, most) => log1p(gain) + logPower(others, (1 + gain) * most - 1) - height + damping(t) < -DROPPED;
    const formed = size > FEW ? needed(x, p, step, terms, small) : terms;
    const { real, imaginary } = characteristic(x, p, step, formed), copies = mean + 1, empty = exp(logPower(others, -1));
    const none = left ? 0 : empty * exp(-height); // with all of [0, 1] in the sum, it does not have what needs none
    let outside = empty * alone;
    if (left) outside = (1 + gain) * exp(left() - 1) / tilt; // x_+ <= e^(lambda x)/(e lambda)
    let value = 0, error = 0;
    for (let k = 0; k < formed; k++) {
      const t = step * k, damped = damping(t), a = gain + (1 + gain) * real[k], b = (1 + gain) * imaginary[k]; // phi - 1
      let re = 0, im = 0;
      for (const { u, weight } of nodes) {
        let fall = -height, turn = 0;
        const x = u * (1 + a) - 1, y = u * b;
        for (const { c, count } of others) {
          const r = c * x, s = c * y;
          fall += 0.5 * count * log1p(max(2 * r + r * r + s * s, -1));
          turn += count * Math.atan2(s, 1 + r);
        }
        if (fall + damped < -DROPPED) {
          if (1 + a > 0) break; // and smaller still at the other nodes
          continue;
        }
        const wide = weight * exp(fall);
        re += wide * Math.cos(turn);
        im += wide * Math.sin(turn);
      }
      re -= none;
      [re, im] = [re * (1 + a) - im * b, re * b + im * (1 + a)];
      const weight = exp(damped) * (k ? 2 : 1), turn = spread * t - 2 * Math.atan(t);
      value += weight * (re * Math.cos(turn) - im * Math.sin(turn));
      error += weight * UNIT * (Math.hypot(re, im) + 2 * none) * (1024 + copies * ((4 * k + size + 64) * min(t * first, 2) + (size + 64) * plain));
    }
    const end = step * (terms - 1), cut = 2 * exp(spread * (1 - end * end) / 2) / (step * end);
    const sum = (value + error + cut) / period + terms * exp(10 - DROPPED);
    const found = min(alone, (max(sum, 0) * exp(height) / tilt + outside) * (1 + 1e-10 + 8 * UNIT * copies));
    // Where a rare large value decides, the images are not small beside it: a longer period may be better.
    const share = value / period / 1e3;
    if (depth > DEPTH && share > 10 * exp(DEEPER - depth)) hint.depth -= DEEPER;
    if (!(share < exp(-depth)) || depth >= DEEPEST) return found;
    hint.depth += DEEPER;
    return min(found, expectation(table, others, hint));
  }

  // Not below delta(eps) for a table {base, first, second} of B, P0/B and P1/B, and [P0, P1] of what B misses.
  function deltaOf(table, others, eps) {
    const { base, first, second, bare = [] } = table;
    const grown = exp(min(eps, MOST_EPS)), values = first.map((one, i) => one - grown * second[i] + 8 * UNIT * (one + grown * second[i]));
    const outside = bare.reduce((sum, [one, other]) => sum + max(one * (1 + 8 * UNIT) - grown * other * (1 - 8 * UNIT), 0), 0);
    const found = min(1, expectation({ values, masses: base }, others) + outside * (1 + 1e-12));
    const smaller = EXACT.findLast((one) => one < eps); // delta falls with eps
    return smaller ? min(found, deltaOf(table, others, smaller)) : found;
  }

  // The mu at which a Gaussian has this delta at eps.
  function fitted(eps, delta) {
    let low = 1e-6, high = 100;
    while (high > (1 + 1e-9) * low) {
      const middle = Math.sqrt(low * high);
      if (gspa.gdpDelta(eps, middle) > delta) high = middle;
      else low = middle;
    }
    return high;
  }

  // The least eps found with delta(eps) <= target: 0, or a delta within the band below it; `top` if nothing below does.
  function search({ top, mu, delta, band = BAND }, target, from) {
    const most = min(top, MOST_EPS);
    if (!(most > 0) || !(delta(most) <= target)) return top; // what is no number proves nothing
    const start = from || (mu > 10 ? 0.9 * most : max(gspa.gdpEpsilon(target, mu), 1e-3 * mu));
    let low = -1, high = most, eps = min(start, 0.95 * most), last = null;
    for (let i = 1; i < 40 && high - max(low, 0) > 1e-9 * high; i++) {
      const found = delta(eps);
      if (found <= target) {
        high = eps;
        if (eps === 0 || found > target * (1 - band)) break;
      } else low = eps;
      // How far ahead a Gaussian with this value has the target, and where the line through the last two is 0; every fourth
      // time the middle.
      let aim = 0;
      if (i % 4 && found > 0 && found < 1) {
        const now = { eps, ahead: gspa.gdpEpsilon(target * (1 - band / 2), fitted(eps, found)) - eps };
        aim = eps + (last ? now.ahead * (eps - last.eps) / (last.ahead - now.ahead) : now.ahead);
        last = now;
      }
      const halved = low < 0 && high < 1e-3 * start ? 0 : high / 2, middle = low > 0 ? Math.sqrt(low * high) : halved; // no eps that is too small yet
      eps = aim > max(low, 0) && aim < high ? aim : middle;
    }
    return high;
  }

  // Not below the least eps at a delta for all victims {top, mu, delta(eps)}, the one who is likely the worst first.
  function epsilonOf(victims, target) {
    let found = 0;
    for (const one of victims) if (found === 0 || !(one.delta(found, target) <= target)) found = max(found, search(one, target, found));
    return found;
  }

  Object.assign(gspa, { DEPTH, deltaOf, epsilonOf, expectation, fitted });
});
