// The law of the number of clones, C = sum_j Bernoulli(q_j): gspa/accountant/clones.py.
//
// A law is {edges, mass, error, below, far, farMass, above, mean}: masses of the blocks [edges[j], edges[j+1]), each
// within its error, and bounds on what is left out: P(C < edges[0]) <= below, P(C < far) <= farMass and
// P(C >= last edge) <= above. Users come in groups, {q, rest, count} each with rest = 1 - q to full accuracy.
"use strict";
(self.gspaParts = self.gspaParts || []).push(function (gspa) {
  const CORE = 30; // e^-CORE: mass left out where it is near its value in the middle
  const FEW = 2048; // users up to which polynomials are multiplied out
  const WHOLE = 256; // users up to which nothing is left out
  const POINTS = 4096; // binomial masses evaluated one by one up to this many
  const WIDE = 150; // standard deviation from which the two depths differ and no tilt is needed
  const RELATIVE = 1e-11; // allowance on each mass
  const NOISE = 2e-13; // allowance relative to the largest mass, for the Fourier sum
  const BLOCKS = 6000; // blocks that are affordable, when counts are so many that they are put in blocks
  const BLOCK = 8e-7; // block length over count: half of it is the relative width it costs in eps
  const LOG_NOTHING = 40; // |phi| below e^-40 is left out
  const REMAINDER = 1e-14; // of the series, absolute in log phi
  const ENTRIES = 24000; // pairs of blocks that a bound over blankets and clones is summed over
  const SINE = []; // (sin t - t)/t^3 = sum_k (-1)^(k+1) t^2k/(2k+3)!
  for (let k = 0, factorial = 6; k < 8; factorial *= (2 * k + 4) * (2 * k + 5), k++) SINE.push((k % 2 ? 1 : -1) / factorial);

  // t with P(|C - mean| >= t) <= e^-depth on each side: Bernstein's inequality, inverted.
  const reach = (variance, depth) => (depth / 3 + Math.sqrt(depth * depth / 9 + 2 * depth * variance)) * (1 + 1e-12);

  function moments(groups) {
    let mean = 0, variance = 0, largest = 0;
    for (const { q, rest, count } of groups) {
      mean += q * count;
      variance += q * rest * count;
      largest = Math.max(largest, Math.min(q, rest));
    }
    return { mean, variance, largest };
  }

  // Counts kept, [low, high], and the mass left out on each side.
  function windowOf({ mean, variance }, n, depth, over) {
    if (n <= WHOLE) return { low: 0, high: n, far: 0, below: 0, farMass: 0, above: 0 };
    const core = variance >= WIDE * WIDE ? Math.min(CORE, depth) : depth;
    const low = Math.max(0, Math.floor(mean - reach(variance, core)));
    const far = Math.max(0, Math.floor(mean - reach(variance, depth)));
    const high = Math.min(n, Math.ceil(mean + reach(variance, over)));
    return {
      low, high, far, below: low > 0 ? Math.exp(-core) : 0,
      farMass: far > 0 ? Math.exp(-depth) : 0, above: high < n ? Math.exp(-over) : 0,
    };
  }

  // Masses of the counts of the window, one by one.
  function points(kept, mass) {
    const edges = Float64Array.from({ length: mass.length + 1 }, (_, i) => kept.low + i);
    return { ...kept, edges, mass, error: mass.map((m) => RELATIVE * m + 1e-300) };
  }

  // Coefficients of prod_j (rest_j + q_j x): sums of positive terms.
  function productMasses(groups, n, kept) {
    const law = new Float64Array(n + 1);
    law[0] = 1;
    let size = 0;
    for (const { q, rest, count } of groups) {
      for (let user = 0; user < count; user++) {
        size++;
        for (let c = size; c > 0; c--) law[c] = rest * law[c] + q * law[c - 1];
        law[0] *= rest;
      }
    }
    return law.slice(kept.low, kept.high + 1);
  }

  // Power sums S_k of the q_j <= 1/2 and of 1 - q_j for the others, from which log phi(t) follows at every t.
  // The few users whose series converges slowly are kept apart.
  function powerSums(groups, { mean, variance, largest }) {
    // |phi(t)|^2 = prod (1 - 4 q (1-q) sin^2(t/2)) <= exp(-4 variance sin^2(t/2))
    const sine2 = LOG_NOTHING / (2 * variance);
    const cutoff = sine2 < 1 ? 2 * Math.asin(Math.sqrt(sine2)) : Math.PI;
    const u = 2 * Math.sin(cutoff / 2), apartFrom = 0.25 / u;
    const apart = groups.filter(({ q, rest }) => Math.min(q, rest) > apartFrom);
    const x = Math.min(largest, apartFrom) * u;
    let terms = 0; // so many that sum_j (v_j u)^(K+1)/(K+1)/(1 - v u) is at most the remainder; sum v <= 2 variance
    for (let bound = 2 * variance * u; terms < 2 || bound / ((terms + 1) * (1 - x)) > REMAINDER; bound *= x) terms++;
    const low = new Float64Array(terms), high = new Float64Array(terms);
    for (const { q, rest, count } of groups) {
      const v = Math.min(q, rest), side = q > 0.5 ? high : low;
      if (v > apartFrom) continue;
      for (let k = 0, power = v; k < terms; k++, power *= v) side[k] += power * count;
    }
    return { low, high, mean, cutoff, apart };
  }

  // log E[e^{it(C - origin)}], [real, imaginary].
  function logCharacteristic(sums, t, origin) {
    const fall = -2 * Math.sin(t / 2) ** 2, sine = Math.sin(t);
    const lag = t < 1 ? t * t * t * gspa.polynomial(t * t, SINE) : sine - t;
    let real = (sums.low[0] + sums.high[0]) * fall;
    let imaginary = (sums.low[0] - sums.high[0]) * lag + (sums.mean - origin) * t;
    for (let k = 2, a = fall, b = sine; k <= sums.low.length; k++) {
      [a, b] = [a * fall - b * sine, a * sine + b * fall]; // u^k, u = e^{it} - 1
      const sign = (k % 2 ? 1 : -1) / k;
      real += sign * (sums.low[k - 1] + sums.high[k - 1]) * a;
      imaginary += sign * (sums.low[k - 1] - sums.high[k - 1]) * b;
    }
    for (const { q, rest, count } of sums.apart) {
      const v = Math.min(q, rest), a = fall * v, b = sine * v;
      real += 0.5 * Math.log1p(a * (2 + a) + b * b) * count;
      imaginary += (q > 0.5 ? -1 : 1) * (Math.atan2(b, 1 + a) - t * v) * count;
    }
    return [real, imaginary];
  }

  function fourierLaw(groups, n, about, depth, slope, over) {
    const kept = windowOf(about, n, depth, over), wide = about.variance >= WIDE * WIDE;
    let block = 1, logWeight = 0, tilt = 0, { low, high } = kept;
    if (wide) {
      block = Math.max(1, Math.floor(Math.min(BLOCK * low, (high - low) / BLOCKS)));
    } else {
      // Exponential tilting: P(C = c) = E[e^(tilt C)] e^(-tilt c) P_tilted(C = c), so that the Fourier sum's
      // absolute noise is small relative to the masses that matter.
      tilt = slope;
      const growth = Math.expm1(tilt), rise = Math.exp(tilt);
      for (const { q, count } of groups) logWeight += Math.log1p(q * growth) * count;
      groups = groups.map(({ q, rest, count }) => ({ q: q * rise / (1 + q * growth), rest: rest / (1 + q * growth), count }));
      about = moments(groups);
      // What lies outside one period wraps into it: e^-45 of the tilted law is below the noise.
      low = Math.max(0, Math.min(low, Math.floor(about.mean - reach(about.variance, 45))));
      high = Math.min(n, Math.max(high, Math.ceil(about.mean + reach(about.variance, 45))));
    }
    const length = gspa.powerOfTwo(Math.floor((high - low) / block) + 2), sums = powerSums(groups, about);
    const step = 2 * Math.PI / (length * block), most = Math.min(length / 2, Math.ceil(sums.cutoff / step));
    const real = new Float64Array(length), imaginary = new Float64Array(length);
    let peak = 0; // bounds every point mass
    for (let i = 0; i <= most; i++) {
      const t = step * i, [log, angle] = logCharacteristic(sums, t, low), size = Math.exp(log);
      const inside = (t > 0 ? Math.sin(block * t / 2) / Math.sin(t / 2) : block) * size;
      // The conjugate spectrum, shifted to a block's first count; below, its mirror image: the law is real.
      const shifted = 0.5 * (block - 1) * t - angle;
      real[i] = inside * Math.cos(shifted);
      imaginary[i] = inside * Math.sin(shifted);
      if (i > 0 && i < length / 2) [real[length - i], imaginary[length - i]] = [real[i], -imaginary[i]];
      peak += 2 * size / (length * block);
    }
    imaginary[length / 2] = 0;
    gspa.fourier(real, imaginary, 1);
    const noise = NOISE * peak, first = Math.floor((kept.low - low) / block);
    const used = Math.floor((kept.high - kept.low) / block) + 1;
    const edges = Float64Array.from({ length: used + 1 }, (_, i) => low + block * (first + i));
    const mass = real.slice(first, first + used).map((m) => Math.max(m / (length * block), 0));
    let error;
    if (wide) {
      error = mass.map((m) => RELATIVE * m + noise * block);
      // The mass that wrapped around, wherever it landed: the divergence is largest at the first edge.
      error[0] += 2 * Math.exp(-CORE);
    } else {
      const weight = mass.map((_, i) => Math.exp(logWeight - tilt * edges[i]));
      // Where the weight is no double the mass is not known: it is a probability.
      for (let i = 0; i < used; i++) mass[i] = weight[i] < Infinity ? mass[i] * weight[i] : 0;
      error = mass.map((m, i) => Math.min(RELATIVE * m + noise * weight[i], 1));
    }
    return { ...kept, edges, mass, error };
  }

  // The law of the sum of independent Bernoulli(q), group by group. `farMass` is at most e^-depth and `above` e^-over;
  // slope <= 0 is about d log(what is averaged)/dc: small laws are accurate where P(C = c) e^(slope c) is largest.
  function cloneLaw(groups, { depth = 60, slope = 0, over = CORE } = {}) {
    let shift = 0;
    for (const { rest, count } of groups) if (rest <= 0) shift += count;
    groups = groups.filter(({ q, rest, count }) => q > 0 && rest > 0 && count > 0);
    const n = groups.reduce((total, { count }) => total + count, 0), about = moments(groups);
    const kept = windowOf(about, n, depth, over), { q, rest } = groups[0] || { q: 0, rest: 1 };
    let law;
    if (n === 0) {
      law = { edges: Float64Array.of(0, 1), mass: Float64Array.of(1), error: Float64Array.of(0), below: 0, far: 0, farMass: 0, above: 0 };
    } else if (groups.every((group) => group.q === q) && kept.high - kept.low < POINTS) {
      const size = kept.high - kept.low + 1;
      law = points(kept, Float64Array.from({ length: size }, (_, i) => gspa.binomialMass(kept.low + i, n, q, rest)));
    } else if (n <= FEW) {
      law = points(kept, productMasses(groups, n, kept));
    } else {
      law = fourierLaw(groups, n, about, depth, slope, over);
    }
    return { ...law, edges: law.edges.map((edge) => edge + shift), far: law.far + shift, mean: about.mean + shift };
  }

  // About `size` counts with the masses around them, to find roots with: nothing certified.
  function sampleLaw(law, size) {
    const { edges, mass } = law, step = Math.ceil(mass.length / size) | 1; // odd: a block's middle is its mean
    const heaps = [], middles = [], block = edges[1] - edges[0];
    for (let start = 0; start < mass.length; start += step) {
      const end = Math.min(start + step, mass.length);
      let heap = 0;
      for (let j = start; j < end; j++) heap += mass[j];
      heaps.push(heap);
      middles.push(edges[(start + end - 1) >> 1] + Math.floor((block - 1) / 2));
    }
    return { ...law, edges: Float64Array.from([...middles, edges[mass.length]]), mass: Float64Array.from(heaps) };
  }

  // The same law in at most `blocks` longer blocks: as certain, less sharp, faster to use.
  function mergedLaw(law, blocks) {
    const step = Math.ceil(law.mass.length / blocks);
    if (step <= 1) return law;
    const size = Math.ceil(law.mass.length / step), mass = new Float64Array(size), error = new Float64Array(size);
    for (let j = 0; j < law.mass.length; j++) {
      mass[Math.floor(j / step)] += law.mass[j];
      error[Math.floor(j / step)] += law.error[j];
    }
    const edges = Float64Array.from({ length: size + 1 }, (_, i) => law.edges[Math.min(i * step, law.mass.length)]);
    return { ...law, edges, mass, error };
  }

  // What to sum for an upper bound, a lower bound and a guess over the law of (M, C), M the number of blankets and C
  // how many of them are clones, each with probability `coin`: masses of blocks of counts, each with the ratio of
  // P(C = c+1) to P(C = c). More blankets hide better, so blocks of M bound from both sides, as blocks of C do.
  function blanketLaw(groups, coin, { depth = 60, slope = 0, entries = ENTRIES } = {}) {
    const odds = coin / (1 - coin), ratioOf = (count, m) => Math.max(m - count, 0) / (count + 1) * odds;
    const outer = cloneLaw(groups, { depth, slope: slope * coin });
    const inner = (m) => cloneLaw([{ q: coin, rest: 1 - coin, count: m }], { depth, over: depth });
    const middle = inner(Math.max(Math.round(outer.mean), 0)), wide = outer.mass.length;
    let outerBlocks = wide, innerBlocks = entries; // all by themselves
    if (wide * middle.mass.length > entries || outer.edges[1] - outer.edges[0] > 1) {
      // Equal relative widths of the blocks of M and of C.
      const span = ({ edges, mean }) => (edges[edges.length - 1] - edges[0]) / mean;
      const share = span({ ...outer, mean: Math.max(outer.mean, 1) }), own = span({ ...middle, mean: Math.max(middle.mean, 1) });
      outerBlocks = Math.floor(Math.min(wide, Math.max(8, Math.sqrt(entries * share / own))));
      innerBlocks = Math.max(Math.floor(entries / outerBlocks), 8);
    }
    const upper = { clones: [], ratio: [], mass: [] }, lower = { clones: [], ratio: [], mass: [] }, sample = { clones: [], ratio: [], mass: [] };
    const add = (to, count, ratio, mass) => {
      if (!(mass > 0)) return;
      to.clones.push(count);
      to.ratio.push(ratio);
      to.mass.push(mass);
    };
    const addUpper = (law, m, weight) => { // the ratio falls with c, and a smaller one betrays more
      const { edges } = law, size = law.mass.length, start = ratioOf(edges[0], m);
      add(upper, 0, start, weight * law.farMass);
      add(upper, law.far, start, weight * law.below);
      for (let j = 0; j < size; j++) add(upper, edges[j], ratioOf(edges[j + 1] - 1, m), weight * (law.mass[j] + law.error[j]));
      add(upper, edges[size], 0, weight * law.above);
    };
    const addLower = ({ edges, mass, error }, m, weight) => {
      for (let j = 0; j < mass.length; j++) {
        const count = edges[j + 1] - edges[j] === 1 ? edges[j] : edges[j + 1];
        add(lower, count, ratioOf(edges[j], m), weight * Math.max(mass[j] - error[j], 0));
      }
    };
    const blocks = mergedLaw(outer, outerBlocks), size = blocks.mass.length;
    const laws = Array.from(blocks.edges, (m) => mergedLaw(inner(m), innerBlocks));
    for (let j = 0; j < size; j++) {
      const next = blocks.edges[j + 1] - blocks.edges[j] === 1 ? j : j + 1;
      addUpper(laws[j], blocks.edges[j], blocks.mass[j] + blocks.error[j]);
      addLower(laws[next], blocks.edges[next], Math.max(blocks.mass[j] - blocks.error[j], 0));
    }
    addUpper(laws[size], blocks.edges[size], blocks.above);
    if (blocks.below > 0) addUpper(mergedLaw(inner(blocks.far), innerBlocks), blocks.far, blocks.below);
    add(upper, 0, 0, blocks.farMass);
    const few = sampleLaw(outer, 25);
    few.mass.forEach((weight, i) => {
      const m = few.edges[i], some = sampleLaw(inner(m), 60);
      some.mass.forEach((mass, j) => add(sample, some.edges[j], ratioOf(some.edges[j], m), weight * mass));
    });
    return { blankets: true, upper, lower, sample };
  }

  Object.assign(gspa, { cloneLaw, sampleLaw, blanketLaw });
});
