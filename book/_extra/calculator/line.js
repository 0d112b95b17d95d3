// Laplace and Gaussian reports of values in [0, 1], one scale for all: the privacy blanket's upper end, as
// laplace_gaussian.py, blanket.py and random_sum.py of gspa/accountant have it for equal users.
//
// With f0, f1 the densities of a report of 0 and of 1, B = {|y - 1/2| <= R} and m = min(f0, f1), which lies under the
// report of every value in [0, 1], Lemma 5.3 of Balle et al. 2019 says that
//
//   delta(eps) <= int outside B of (f0 - e^eps f1)_+ + (1/n) E[(X_1 + ... + X_n)_+],
//
// X_i independent, each (f0 - e^eps f1)/m at a point of B drawn with density m, else 0. With l = |log f0/f1|, which
// grows with r = |y - 1/2|, that is e^l - e^eps left of 1/2 and 1 - e^(eps + l) right of it: affine in e^l. So moving
// mass to grid points of l with its mean of e^l kept makes X larger in the convex order, and the bound with it.
"use strict";
(self.gspaParts = self.gspaParts || []).push(function (gspa) {
  const FINEST = 0.03, FEWEST = 120, MOST = 500; // steps of l, and how many
  const SHARES = [0.5, 0.2, 0.05, 0.01, 1e-3, 1e-6]; // of delta: what B may leave out
  const PAD = 1e-11; // allowance for the rounding of densities and masses
  const SMOOTHING = 0.06, REACH = 7, LONGEST = 400, UNIT = 2 ** -52, DROPPED = 60;
  const MULTIPLES = [1.1, 1.25, 1.5, 2, 3, 5];
  const LARGEST = 200, MOST_MU = 40; // of a central eps; of the limit's mu: beyond it the report's own guarantee is the answer

  // P(N > x)
  const beyond = (x) => gspa.normal(-x);

  // x with P(N > x) = tail < 1/2, to 1e-6: only B depends on it.
  function quantile(tail) {
    let low = 0, high = 40;
    for (let i = 0; i < 50; i++) {
      const middle = (low + high) / 2;
      if (beyond(middle) > tail) low = middle;
      else high = middle;
    }
    return high;
  }

  // {loss, mass, cover, leak}: l on a grid with the masses of one side of B, and the leak's upper end at an eps.
  function laplaceCover(kappa) {
    // B is the whole line: from r = 1/2 on l = kappa. With l = 2 kappa r the mass has density e^((-kappa - l)/2)/4.
    const cells = Math.min(MOST, Math.max(FEWEST, Math.ceil(kappa / FINEST))), step = kappa / cells;
    const loss = Float64Array.from({ length: cells + 1 }, (_, i) => i * step), mass = new Float64Array(cells + 1);
    for (let i = 0; i < cells; i++) {
      const own = 0.5 * Math.exp(-(kappa + loss[i]) / 2) * -Math.expm1(-step / 2); // of m
      const up = own * Math.expm1(step / 2) / Math.expm1(step); // e^l has the mean e^(l_i + step/2)
      mass[i] += own - up;
      mass[i + 1] += up;
    }
    mass[cells] += 0.5 * Math.exp(-kappa);
    return { loss, mass, leak: () => 0 };
  }

  function gaussianCover(sigma, tail) {
    const radius = 0.5 + sigma * quantile(Math.min(tail, 0.25)), top = radius / (sigma * sigma); // l = r/sigma^2
    const cells = Math.min(MOST, Math.max(FEWEST, Math.ceil(top / FINEST)));
    const loss = Float64Array.from({ length: cells + 1 }, (_, i) => i * top / cells), mass = new Float64Array(cells + 1);
    for (let i = 0; i < cells; i++) {
      const a = radius * i / cells, b = radius * (i + 1) / cells;
      const least = between((a + 0.5) / sigma, (b + 0.5) / sigma), most = between((a - 0.5) / sigma, (b - 0.5) / sigma);
      const up = Math.min(Math.max((most * Math.exp(-loss[i]) - least) / Math.expm1(loss[i + 1] - loss[i]), 0), least);
      mass[i] += least - up;
      mass[i + 1] += up;
    }
    const near = beyond((radius - 0.5) / sigma), far = beyond((radius + 0.5) / sigma);
    return { loss, mass, leak: (eps) => (eps <= top ? near - Math.exp(eps) * far : near) + 1e-11 * near };
  }

  const { nodes: NODES, weights: WEIGHTS } = gspa.gaussLegendre(12);
  // P(a < N < b) for a short interval
  function between(a, b) {
    if (b - a > 1) return between(a, (a + b) / 2) + between((a + b) / 2, b);
    let total = 0;
    for (let i = 0; i < NODES.length; i++) total += WEIGHTS[i] * Math.exp(-0.5 * (a + (b - a) * NODES[i]) ** 2);
    return total * (b - a) / Math.sqrt(2 * Math.PI);
  }

  // The values of X and their masses, what is 0 included.
  function atoms({ loss, mass }, eps) {
    const size = loss.length, e = Math.exp(eps), values = new Float64Array(2 * size + 1), masses = new Float64Array(2 * size + 1);
    let cover = 0;
    for (let i = 0; i < size; i++) {
      const grown = Math.exp(loss[i]);
      values[i] = grown - e + PAD * (grown + e);
      values[size + i] = 1 - e * grown + PAD * (1 + e * grown);
      masses[i] = masses[size + i] = mass[i];
      cover += 2 * mass[i];
    }
    masses[2 * size] = Math.max(1 - cover, 0);
    return { values, masses };
  }

  // Kahan's sum of f(i) for i < size
  function sum(size, f) {
    let total = 0, lost = 0;
    for (let i = 0; i < size; i++) {
      const y = f(i) - lost, t = total + y;
      lost = t - total - y;
      total = t;
    }
    return total;
  }

  // log E[e^(tilt X)], to units of E[|tilt X|] where that is small
  function logMgf(values, masses, tilt) {
    const top = tilt * values.reduce((a, b) => Math.max(a, b));
    const gain = top < 500 ? sum(values.length, (i) => masses[i] * Math.expm1(tilt * values[i])) : Infinity;
    if (gain > -0.5 && gain < Infinity) return Math.log1p(gain);
    return top + Math.log(sum(values.length, (i) => masses[i] * Math.exp(tilt * values[i] - top)));
  }

  // The minimiser of log E[e^(tilt S); not all X are 0] - 2 log tilt; any tilt > 0 is valid.
  function saddle(values, masses, n) {
    const size = values.length, top = values.reduce((a, b) => Math.max(a, b)), bottom = values.reduce((a, b) => Math.min(a, b));
    const slope = (tilt) => {
      let first = 0, total = 0;
      for (let i = 0; i < size; i++) {
        const weight = masses[i] * Math.exp(tilt * (values[i] - top));
        first += weight * values[i];
        total += weight;
      }
      const none = (masses[size - 1] * Math.exp(-tilt * top) / total) ** n;
      return n * first / total / Math.max(1 - none, UNIT) - 2 / tilt;
    };
    let low = 1e-3 / n / Math.max(top, -bottom), high = 1e3 / top;
    for (let i = 0; i < 30; i++) {
      const middle = Math.sqrt(low * high);
      if (slope(middle) > 0) high = middle;
      else low = middle;
    }
    return Math.sqrt(low * high);
  }

  // Real and imaginary part of E[e^(itx) - 1 - itx] at t = 0, step, ..., from sqrt(terms) powers: with c and f the coarse
  // and the fine part of tx, e^(i(c+f)) - 1 - i(c+f) = (e^(ic) - 1)(e^(if) - 1) + (e^(ic) - 1 - ic) + (e^(if) - 1 - if).
  function turns(x, p, step, terms) {
    const inner = Math.ceil(Math.sqrt(terms)), outer = Math.ceil(terms / inner), array = (size) => new Float64Array(size);
    const real = array(inner * outer), excess = array(inner * outer), fine = [array(inner), array(inner)];
    const own = [inner, outer].map((size) => [array(size), array(size)]);
    for (let i = 0; i < x.length; i++) {
      if (p[i] === 0) continue;
      const turn = (j, every, [a, b]) => { // e^(iy) - 1, and what it adds to the sums of its own part
        const y = step * every * j * x[i], h = Math.sin(y / 2), sine = Math.sin(y), one = -2 * h * h;
        a[j] += p[i] * one;
        b[j] += p[i] * (sine - y);
        return [one, sine];
      };
      for (let j = 0; j < inner; j++) [fine[0][j], fine[1][j]] = turn(j, 1, own[0]);
      for (let k = 0; k < outer; k++) {
        const [c, d] = turn(k, inner, own[1]), u = p[i] * c, v = p[i] * d;
        for (let j = 0, at = k * inner; j < inner; j++, at++) {
          real[at] += u * fine[0][j] - v * fine[1][j];
          excess[at] += u * fine[1][j] + v * fine[0][j];
        }
      }
    }
    for (let k = 0, at = 0; k < outer; k++) {
      for (let j = 0; j < inner; j++, at++) {
        real[at] += own[0][0][j] + own[1][0][k];
        excess[at] += own[0][1][j] + own[1][1][k];
      }
    }
    return { real, excess };
  }

  // Not below E[(X_1 + ... + X_n)_+]: with z = 1 + it, over the sum S tilted by e^(lambda S), where not all X are 0,
  //   lambda E[S_+] <= (1/P) sum_k M(lambda z_k) e^(spread z_k^2/2) / z_k^2,   t_k = 2 pi k/P,
  // because the other periods' terms are positive, and so is what a small independent Gaussian adds. What the sum
  // leaves out at its end, and roundings, are added.
  function positivePart({ values, masses }, n) {
    if (!(values.reduce((a, b) => Math.max(a, b)) > 0)) return 0;
    const size = values.length, tilt = saddle(values, masses, n), log = logMgf(values, masses, tilt), height = n * log;
    if (!(height < 500)) return Infinity; // values so far apart that no tilt brings them together
    const empty = n * Math.log(masses[size - 1]), none = Math.exp(empty - height); // all X are 0
    const full = height + Math.log1p(-Math.min(none, 1 - UNIT)), some = Math.log(-Math.expm1(Math.min(empty, -UNIT)));
    const images = MULTIPLES.map((a) => n * logMgf(values, masses, a * tilt) - full + 0.02 * a * a);
    // The images' share: those on the left where S is likely far below 0, those on the right by Chernoff's bound.
    const share = (period) => Math.max(
      period * Math.exp(Math.min(some - full - period, 700)),
      Math.exp(Math.min(...MULTIPLES.map((a, i) => images[i] - (a - 1) * period - 1), 700)),
    );
    let period = Math.max(20, 12 + some - full);
    if (period > LONGEST) return Math.exp(height - 1) / tilt; // x_+ <= e^(lambda x)/(e lambda)
    while (share(period) > 1e-5 && period < LONGEST) period *= 1.25;
    const smoothing = period > 150 ? 2 * SMOOTHING : SMOOTHING, spread = smoothing * smoothing;
    const step = 2 * Math.PI / period, terms = Math.ceil(REACH / (smoothing * step)) + 1;
    const x = values.map((v) => tilt * v), p = new Float64Array(size);
    let first = 0, second = 0, plain = 0;
    for (let i = 0; i < size; i++) {
      p[i] = masses[i] * Math.exp(x[i] - log);
      first += p[i] * Math.abs(x[i]);
      second += p[i] * x[i] * x[i];
      plain += masses[i] * Math.abs(x[i]);
    }
    const mean = sum(size, (i) => p[i] * x[i]), { real: reals, excess: excesses } = turns(x, p, step, terms);
    let value = 0, error = 0;
    for (let k = 0; k < terms; k++) {
      const t = step * k, real = reals[k], imaginary = excesses[k] + t * mean;
      const fall = n * 0.5 * Math.log1p(Math.max(2 * real + real * real + imaginary * imaginary, -1));
      const weight = Math.exp(spread * (1 - t * t) / 2) / (1 + t * t) * (k ? 2 : 1), turn = spread * t - 2 * Math.atan(t);
      const wide = fall > -DROPPED ? Math.exp(fall) : 0;
      value += weight * (wide * Math.cos(n * Math.atan2(imaginary, 1 + real) + turn) - none * Math.cos(turn));
      const drift = n * (32 * (t * first + plain) + (4 * size + 64) * t * t * second) + 1024;
      error += weight * UNIT * (wide * drift + none * (1024 + 32 * n * plain));
    }
    const end = step * (terms - 1), cut = 2 * Math.exp(spread * (1 - end * end) / 2) / (step * end);
    const total = (value + error + cut) / period + terms * Math.exp(-DROPPED);
    return Math.max(total, 0) * Math.exp(height) / tilt * (1 + 1e-9);
  }

  // What the victim's report alone guarantees: an upper end of delta at eps, and of eps at delta.
  const local = {
    laplace: { delta: (eps, kappa) => Math.max(0, -Math.expm1((eps - kappa) / 2)), eps: (delta, kappa) => Math.max(0, kappa + 2 * Math.log1p(-delta)) },
    gaussian: { delta: (eps, kappa) => gspa.gdpDelta(eps, kappa), eps: (delta, kappa) => gspa.gdpEpsilon(delta, kappa) },
  };

  // n users whose reports' scale is 1/gap of the values' range: {kind, gap, n, covers, known}.
  function lineOf(kind, gap, n) {
    return { kind, gap, n, covers: new Map(), known: new Map() };
  }

  // The covers to try at about this delta; the same objects for the same radius.
  function coversOf(line, delta) {
    const { kind, gap, covers } = line;
    const tails = kind === "laplace" ? [0] : SHARES.map((share) => 10 ** (Math.round(10 * Math.log10(Math.max(share * delta, 1e-290))) / 10));
    return tails.map((tail) => {
      if (!covers.has(tail)) covers.set(tail, kind === "laplace" ? laplaceCover(gap) : gaussianCover(1 / gap, tail));
      return covers.get(tail);
    });
  }

  function upperOf(line, cover, eps) {
    const at = Math.min(eps, LARGEST); // delta falls with eps
    return cover.leak(at) + positivePart(atoms(cover, at), line.n) / line.n;
  }

  function limited(line, eps, found) {
    const own = local[line.kind].delta(eps, line.gap) * (1 + 1e-9);
    return Math.min(found, own, 1);
  }

  // mu of the Gaussian limit: the variance of the sum at eps = 0 is n times that of X.
  function limitOf(line, { loss, mass }) {
    let variance = 0;
    for (let i = 0; i < loss.length; i++) variance += 2 * mass[i] * Math.expm1(loss[i]) ** 2;
    return Math.sqrt(variance / line.n);
  }

  // Not below delta(eps).
  function lineDelta(line, eps) {
    const at = Math.min(eps, LARGEST);
    if (at >= line.gap && line.kind === "laplace") return 0;
    const own = limited(line, eps, 1);
    if (own === 0) return 0;
    const mu = Math.min(...coversOf(line, 1e-6).map((cover) => limitOf(line, cover)));
    let guess = mu < MOST_MU ? Math.min(Math.max(gspa.gdpDelta(at, mu), 1e-30), 0.25) : 0.25, least = 1;
    for (let i = 0; i < 3; i++) { // the best B depends on the delta that comes out
      least = Math.min(least, ...coversOf(line, guess).map((cover) => upperOf(line, cover, at)));
      if (line.kind === "laplace" || (least > 0.3 * guess && least < 3 * guess)) break;
      guess = Math.min(Math.max(least, 1e-30), 0.25);
    }
    return limited(line, eps, least);
  }

  // Not below the least eps at delta.
  function lineEpsilon(line, delta) {
    const alone = local[line.kind].eps(delta, line.gap) * (1 + 1e-9), target = delta * (1 - 1e-12);
    if (alone === 0) return 0;
    const covers = coversOf(line, delta), mu = Math.min(...covers.map((cover) => limitOf(line, cover)));
    if (!(mu < MOST_MU)) return alone;
    const limit = gspa.gdpEpsilon(delta, mu), start = Math.min(0.95 * alone, limit);
    let best = alone, at = start;
    const tried = new Set();
    while (tried.size < covers.length) { // the best B at the limit's eps need not be the best at the true one
      const all = covers.map((cover) => upperOf(line, cover, at)), cover = covers[all.indexOf(Math.min(...all))];
      if (tried.has(cover)) break;
      tried.add(cover);
      at = least(line, cover, target, at, alone);
      best = Math.min(best, at);
    }
    return best;
  }

  // The least eps found, to about 1e-4 of it, at which this cover's upper end is at most the target; `top` if none is.
  function least(line, cover, target, start, top) {
    const log = (eps) => Math.log(upperOf(line, cover, eps) / target);
    let low = 0, high = top, atLow = log(0), atHigh = NaN, eps = Math.min(Math.max(start, 1e-12), 0.95 * top);
    if (atLow <= 0) return 0;
    for (let i = 0; i < 40 && high - low > 1e-5 * high; i++) {
      const found = log(eps);
      if (found <= 0) [high, atHigh] = [eps, found];
      else [low, atLow] = [eps, found];
      if (found <= 0 && found > -1e-4) break;
      const middle = (low + high) / 2, chord = low + (high - low) * (atLow + 5e-5) / (atLow - atHigh);
      if (!Number.isFinite(atHigh)) eps = high === top && low > 0 ? Math.min(1.15 * low, middle) : middle;
      else eps = i % 3 < 2 && chord > low && chord < high ? chord : middle;
    }
    return Math.min(high, top);
  }

  Object.assign(gspa, { lineOf, lineDelta, lineEpsilon });
});
