// Laplace and Gaussian reports of values in [0, 1], own noise each: laplace_gaussian.py and blanket.py of gspa/accountant.
//
// Whatever the value, a report's density at r = |y - 1/2| is at least that of the farthest value, e^(height - kappa u)
// with u = (r + 1/2)^power. B has a density q/Z on r <= radius, log q concave and piecewise linear in u, so that what a
// user's report has of B is a minimum over the corners. The victim's worst two values are 0 and 1.
"use strict";
(self.gspaParts = self.gspaParts || []).push(function (gspa) {
  const { abs, exp, expm1, log, max, min, sqrt } = Math;
  const LOG_SQRT_2PI = 0.5 * log(2 * Math.PI);
  const SHARES = [0.6, 0.5, 0.3, 0.2, 0.05, 0.01, 1e-3, 1e-6]; // of delta: what B may leave out
  const LEVELS = 5, BREAKS = 12, NEAREST = 0.02; // slopes of log q, and places looked at for where it has them
  const SEARCH = [Infinity, Infinity, 2, 1.2]; // sweep after sweep, either way by at most this factor
  const POINTS = 400; // of r: where densities are looked at
  const ROUGH = { one: 120, many: 100 }, FINE = { one: 960, many: 240 }, CLOSEST = 3, BLURRED = 0.1; // cells in which they are summed, of every B and of the best ones; and the smoothing of every B
  const NEARBY = { one: [0.05, 0], many: [0.3, 1] }; // relative, or in mu: so far the best B stays what it is; many rounds ask for many values
  const CHANGED = { one: 1.03, many: 100 }; // and a value by at most this factor
  const APART = 2, FLAT = 0.99, AGAIN = 0.3; // over rounds: decades of delta for which the same B are tried; part of a value; and so near B of another scale serve
  const FAR = 1.02, DEEPEST = 200; // times the limit's eps: beyond it other B are tried; and as log q falls no lower
  const PAD = 1e-11, COUNTED = 2e-12; // allowances for the roundings of densities and of masses
  const LARGEST = 200, MOST_MU = 40; // of a central eps; of the limit's mu: beyond it the report's own guarantee is the answer

  // {power, kappa, height, gap, count}: one user's noise; gap is the values' range in units of the noise.
  const noiseOf = (kind, gap, count) => (kind === "laplace"
    ? { power: 1, kappa: gap, height: log(gap / 2), gap, count }
    : { power: 2, kappa: gap * gap / 2, height: log(gap) - LOG_SQRT_2PI, gap, count });

  // What one report guarantees by itself.
  const aloneDelta = ({ power, gap }, eps) => (1 + 1e-9) * (power === 1 ? max(0, -expm1((eps - gap) / 2)) : gspa.gdpDelta(eps, gap));

  const density = ({ power, kappa, height }, distance) => height - kappa * abs(distance) ** power; // its logarithm
  const tail = ({ power, gap }, distance) => (power === 1 ? 0.5 * exp(-gap * distance) : gspa.beyond(gap * distance));
  const reach = ({ power, gap }, mass) => (power === 1 ? -log(2 * mass) : gspa.quantile(mass)) / gap;

  // int exp(-kappa ((near + w)^power - near^power)) over w in [0, width], near >= 0.
  function mass(power, kappa, near, width) {
    if (power === 1) return kappa > 0 ? -expm1(-kappa * width) / kappa : width;
    const fall = kappa * width * (2 * near + width), root = sqrt(2 * kappa);
    if (fall < 1) return gspa.integral((w) => exp(-kappa * w * (2 * near + w)), 0, width);
    return (gspa.mills(root * near) - exp(-fall) * gspa.mills(root * (near + width))) / root;
  }

  // {corners, logs, slopes, total, radius}: log q at the corners (in u), and log Z.
  function envelope(power, slopes, breaks, radius) {
    const last = (radius + 0.5) ** power, corners = [0.5 ** power, ...breaks.map((at) => min(max(at, 0.5 ** power), last)), last], logs = [0];
    slopes.forEach((slope, i) => logs.push(logs[i] - slope * (corners[i + 1] - corners[i])));
    const ends = corners.map((u) => u ** (1 / power));
    const total = log(2 * slopes.reduce((sum, slope, i) => sum + exp(logs[i]) * mass(power, slope, ends[i], ends[i + 1] - ends[i]), 0));
    const piece = (r) => {
      const u = (r + 0.5) ** power;
      let i = 0;
      while (i < slopes.length - 1 && u >= corners[i + 1]) i++;
      return { slope: slopes[i], log: logs[i] - slopes[i] * (u - corners[i]) - total };
    };
    return { power, slopes, breaks, radius, ends, piece, cover: (others) => others.map(({ kappa, height, count }) => ({
      c: min(1, exp(total + min(...corners.map((u, i) => height - kappa * u - logs[i])))) * (1 - 1e-12), count,
    })) };
  }

  // mu of the Gaussian limit, and the same with Edgeworth's first correction of the quantile at a delta, which is large
  // where a rare report gives much away.
  function limit(victim, others, found, delta) {
    const step = found.radius / POINTS, copies = found.cover(others).reduce((sum, { c, count }) => sum + c * count, 0);
    let square = 0, third = 0;
    for (let i = 0; i < POINTS; i++) {
      const r = (i + 0.5) * step, gap = abs(exp(density(victim, r - 0.5)) - exp(density(victim, r + 0.5))), share = gap * exp(-found.piece(r).log) / copies;
      square += 2 * step * gap * share;
      third += 2 * step * gap * share * share;
    }
    const mu = sqrt(square) || Infinity, skew = third / mu ** 3;
    return { mu, corrected: mu * (1 + skew * max(0, gspa.quantile(delta)) / 6) || Infinity };
  }

  // B of nearly the least eps in the limit, and smaller ones with the same q: a coordinate search, and any B is valid.
  function choose(victim, others, delta, name) {
    const { power } = victim, distinct = [...new Set(others.map(({ kappa }) => kappa))].sort((a, b) => a - b);
    const slopes = distinct.length <= LEVELS ? distinct : Array.from({ length: LEVELS }, (_, i) => distinct[Math.round(i / (LEVELS - 1) * (distinct.length - 1))]);
    const radii = SHARES.map((share) => 0.5 + max(reach(victim, min(max(share * delta, 1e-300), 0.25)), 1e-3));
    const placed = (breaks, i) => {
      const found = envelope(power, slopes, breaks, radii[i]);
      return { ...limit(victim, others, found, delta), breaks, i, found };
    };
    const least = (some, by) => some.map((one) => ({ one, value: by(one) })).reduce((a, b) => (b.value < a.value ? b : a)).one;
    const nearest = (some) => least(some, (one) => one[name]); // where one share leaks, eps grows with mu
    const smallest = (some) => least(some, ({ i, [name]: mu }) => (mu < MOST_MU ? gspa.gdpEpsilon(delta * (1 - SHARES[i]), mu) : mu * mu));
    let best = smallest(radii.map((_, i) => nearest(slopes.map((_, j) => placed(slopes.slice(1).map((_, k) => (k < j ? 0 : Infinity)), i)))));
    for (const factor of slopes.length > 1 && best.mu < Infinity ? SEARCH : []) {
      for (let j = 0; j < slopes.length - 1; j++) {
        const { breaks, i } = best, far = radii[i] + 0.5, at = min(max(breaks[j] ** (1 / power) - 0.5, NEAREST), far);
        const from = max(at / factor, NEAREST), most = min(at * factor, far);
        best = nearest([best, ...[0, far, ...Array.from({ length: BREAKS }, (_, k) => from * (most / from) ** (k / (BREAKS - 1)))].map((away) => {
          const to = (0.5 + away) ** power;
          return placed(breaks.map((at, l) => (l < j ? min(at, to) : l > j ? max(at, to) : to)), i);
        })]);
      }
      best = smallest(radii.map((_, i) => placed(best.breaks, i)));
    }
    const smaller = radii.filter((radius) => radius < 0.999 * best.found.radius).map((radius) => envelope(power, slopes, best.breaks, radius));
    // One slope throughout, for unequal noise that the limit says little of.
    const falls = (slope, radius) => slope * ((radius + 0.5) ** power - 0.5 ** power) < DEEPEST;
    const straight = slopes.length === 1 ? [] : slopes.flatMap((slope) => radii.filter((radius) => falls(slope, radius)).map((radius) => envelope(power, [slope], [], radius)));
    return { ...best, smaller, straight };
  }

  // {mu, tried, straight}: the limit's mu, the B's to evaluate, and others for where the limit says little.
  function candidates(victim, others, delta) {
    const plain = choose(victim, others, delta, "mu");
    if (!(plain.mu < MOST_MU)) return { mu: Infinity, tried: [] };
    const both = plain.corrected < 1.02 * plain.mu ? [plain] : [plain, choose(victim, others, delta, "corrected")];
    const tried = new Map(both.flatMap(({ found, smaller }) => [found, ...smaller]).map((one) => [String([one.radius, ...one.breaks]), one])); // each once
    return { mu: plain.mu, tried: [...tried.values()], straight: plain.straight };
  }

  // B cut at distances r from 1/2, left of it; right of it the two values change places. Of each cell B's mass, those of
  // the reports of 0 and of 1, and the least and largest ratios of their densities to B's.
  function cells(victim, found, size) {
    const { power, kappa, height } = victim, { radius, ends, piece } = found;
    const at = (r) => ({ b: piece(r).log, zero: density(victim, r - 0.5), one: density(victim, r + 0.5) });
    const points = [...new Set(Array.from({ length: POINTS + 1 }, (_, i) => [radius * i / POINTS, min(1.5, radius) * i / POINTS]).flat())].sort((a, b) => a - b);
    const parts = points.slice(1).map((r, i) => {
      const width = r - points[i], [a, b] = [at(points[i]), at(r)], middle = exp(at(r - width / 2).b);
      const change = [b.zero - b.b - a.zero + a.b, b.one - b.b - a.one + a.b], steep = [[a.zero - a.b, b.zero - b.b], [a.one - a.b, b.one - b.b]].map(([x, y]) => (exp(y) - exp(x)) / width);
      return [middle * width, (middle * (steep[0] ** 2 + steep[1] ** 2)) ** (1 / 3) * width, abs(change[0]) + abs(change[1]) + 1e-9 * width];
    });
    const sums = [0, 1, 2].map((k) => parts.reduce((sum, part) => sum + part[k], 0)), edges = new Set([0, 0.5, radius, ...ends.map((end) => end - 0.5)]);
    let place = 0;
    parts.forEach((part, i) => {
      const width = part.reduce((sum, value, k) => sum + (sums[k] > 0 ? value / sums[k] : 0), 0) / 3 * size, first = Math.ceil(place);
      for (let k = first; k < place + width; k++) edges.add(points[i] + (k - place) / width * (points[i + 1] - points[i]));
      place += width;
    });
    const cut = [...edges].filter((r) => r >= 0 && r <= radius).sort((a, b) => a - b);
    return cut.slice(1).map((r, i) => {
      const start = cut[i], width = r - start, { slope } = piece(start + width / 2), [a, b] = [at(start), at(r)];
      const bulge = power === 2 ? abs(slope - kappa) * width * width / 4 : 0; // of a quadratic log ratio above its ends
      const side = (x, y, input) => { // of an input, as r measures it: the logarithms of its report's density at both ends
        const far = [start - input, r - input], near = min(...far.map(abs)), ends = [exp(x - a.b), exp(y - b.b)], low = min(...ends) * exp(-bulge), high = max(...ends) * exp(bulge);
        const turn = Math.sign(far[0] + far[1]), steep = far.map((d) => power * (slope * (d + input + 0.5) ** (power - 1) - turn * kappa * abs(d) ** (power - 1)));
        const rises = [low, high].flatMap((ratio) => steep.map((rise) => rise * ratio * width));
        return { mass: exp(height - kappa * near ** power) * mass(power, kappa, near, width), ends, low, high, least: min(...rises), most: max(...rises) };
      };
      return { base: exp(a.b) * mass(power, slope, start + 0.5, width), zero: side(a.zero, b.zero, 0.5), one: side(a.one, b.one, -0.5) };
    });
  }

  // Not below what the victim's reports beyond B cost.
  function leak(victim, radius, eps) {
    const { power, kappa } = victim, near = tail(victim, radius - 0.5), far = tail(victim, radius + 0.5);
    const gain = max(near - exp(eps) * far, 0), grows = kappa * ((radius + 0.5) ** power - (radius - 0.5) ** power) >= eps;
    return (grows ? gain : power === 1 ? 0 : near) + COUNTED * (near + far);
  }

  // An upper end of delta(eps) from one B: each cell's mass moves to the extreme values of L there, its mean kept, which
  // makes L larger in the convex order. Where L rises throughout a cell, or falls, these are its values at the ends,
  // which neighbours share; else it is beyond them by no more than it can turn back in the cell.
  function upper(victim, others, found, size, smoothing) {
    const hint = { depth: gspa.DEPTH, smoothing }, cover = found.cover(others), cut = cells(victim, found, size), whole = 2 * cut.reduce((sum, { base }) => sum + base, 0);
    return (asked) => {
      const eps = min(asked, LARGEST), grown = exp(eps), values = [], masses = [];
      const put = (value, mass) => {
        values.push(value);
        masses.push(mass);
      };
      for (const [one, other] of [["zero", "one"], ["one", "zero"]]) {
        let edge = -Infinity, held = 0; // the end that is shared with the next cell, and the mass there
        for (const cell of cut) {
          const first = cell[one], second = cell[other], pad = PAD * (first.high + grown * second.high);
          const [start, end] = [0, 1].map((i) => first.ends[i] - grown * second.ends[i]), fall = grown * second.most - first.least, rise = first.most - grown * second.least;
          const over = max(0, min(fall, rise)), least = max(min(start, end) - over, first.low - grown * second.high), most = min(max(start, end) + over, first.high - grown * second.low);
          const mean = min(max((first.mass - grown * second.mass) / cell.base, least), most), share = most > least ? (mean - least) / (most - least) : 0.5;
          const mass = cell.base / whole, up = mass * share;
          if (over > 0) {
            if (held > 0) put(edge, held);
            put(least + pad, mass - up);
            put(most + pad, up);
            [edge, held] = [-Infinity, 0];
          } else {
            put(max(edge, start + pad), held + (start < end ? mass - up : up));
            [edge, held] = [end + pad, start < end ? up : mass - up];
          }
        }
        if (held > 0) put(edge, held);
      }
      return gspa.expectation({ values: Float64Array.from(values), masses }, cover, hint) + leak(victim, found.radius, eps);
    };
  }

  // The q of one victim's noise for another scale of all noise, in units of the victim's own.
  function rescaled({ power, slopes, breaks, radius }, from, to) {
    const away = (distance) => 0.5 + (distance - 0.5) * from.gap / to.gap;
    return envelope(power, slopes.map((slope) => slope * to.kappa / from.kappa), breaks.map((at) => away(at ** (1 / power)) ** power), away(radius));
  }

  // Of groups {gap, count}, the victims with the B's for about a delta of so many rounds, the one with the least noise
  // first: {top, mu, delta(eps)} each, as `hidden` in families.js. With `only`, that group alone. With `chosen`, the B's
  // of another scale of all noise, near this one, serve again; those chosen here are added.
  function lineVictims(kind, groups, delta, rounds, only = null, chosen = []) {
    const users = groups.map(({ gap, count }) => noiseOf(kind, gap, count)), asks = rounds > 1 ? "many" : "one";
    const asked = users.filter((one, i) => one.gap > 0 && (only === null || i === only)).sort((a, b) => b.gap - a.gap);
    return asked.map((one, i) => {
      const before = (chosen[i] ??= []), [part, far] = NEARBY[asks], about = delta / rounds, last = Math.floor(Math.log10(about) / APART);
      const others = users.map((each) => (each === one ? { ...each, count: each.count - 1 } : each)).filter(({ gap, count }) => gap * count > 0);
      const evaluated = (found) => {
        const [rough, fine] = [ROUGH, FINE].map((size) => {
          const smoothing = size === ROUGH ? BLURRED : undefined;
          let made = null, last = { eps: NaN };
          return (eps) => {
            made ??= upper(one, others, found, size[asks], smoothing);
            if (eps !== last.eps) last = { eps, value: made(eps) };
            return last.value;
          };
        });
        return { found, rough, fine };
      };
      let known = null, best = null, place = rounds > 1 ? 0 : last; // on a scale of deltas, for each of which other B are tried
      let held = { eps: Infinity, value: 1 }, chose = { eps: NaN, value: 1 }, earlier = 1; // held: not below delta from there on
      const prepared = () => {
        if (known) return known;
        const { mu, tried, straight = [] } = others.length ? candidates(one, others, about) : { mu: Infinity, tried: [] };
        return (known = { mu, hidden: tried.length > 0, places: new Map([[last, tried.map(evaluated)]]), straight, more: null });
      };
      const ranked = (some, by) => some.map((curve) => ({ curve, value: by(curve) })).sort((a, b) => a.value - b.value);
      const closest = (eps) => { // of this place
        const { mu, places, straight } = known;
        if (!places.has(place)) {
          const { tried } = candidates(one, others, 10 ** (APART * place));
          places.set(place, tried.length > 0 ? tried.map(evaluated) : places.get(last));
        }
        let found = ranked(places.get(place), (one) => one.rough(eps));
        if (!(found[0]?.value <= gspa.gdpDelta(eps / FAR, mu))) {
          known.more ??= straight.map(evaluated);
          found = [...found, ...ranked(known.more, (one) => one.rough(eps))].sort((a, b) => a.value - b.value);
        }
        return found.slice(0, CLOSEST).map(({ curve }) => curve);
      };
      return {
        top: kind === "laplace" ? one.gap : Infinity,
        alone: (eps) => aloneDelta(one, eps),
        get mu() {
          return prepared().mu;
        },
        delta: (eps, most = 0) => { // at most `most`, or as small as it was found
          const alone = aloneDelta(one, eps);
          if (alone <= most || !prepared().hidden) return min(1, alone);
          if (eps >= held.eps && held.value <= most) return most;
          if (most > 0) {
            held = { eps, value: (best ?? known.places.get(last)[0]).rough(eps) };
            if (held.value <= most) return most;
          }
          const { mu } = known, close = (other, times) => abs(eps - other) <= times * max(part * other, far * mu);
          const value = best ? best.fine(eps) : gspa.gdpDelta(eps, mu);
          const stands = eps > 3 * mu && value > FLAT * earlier && place > last; // at what this B misses, perhaps
          earlier = value;
          if (best && close(chose.eps, 1) && max(value / chose.value, chose.value / value) < CHANGED[asks] && !stands) return min(1, alone, value);
          const near = before.filter((each) => close(each.eps, AGAIN) && !(stands && each.place >= place));
          const [again] = near.sort((a, b) => abs(a.eps - eps) - abs(b.eps - eps)), there = Math.floor(Math.log10(max(value, 1e-300)) / APART);
          if (rounds > 1) place = again?.place ?? max(last, min(there, stands ? place - 1 : -1));
          const tried = again ? [evaluated(rescaled(again.found, again.noise, one))] : closest(eps);
          const [found] = ranked([...new Set(best ? [...tried, best] : tried)], (curve) => curve.fine(eps));
          best = found.curve;
          chose = { eps, value: earlier = found.value };
          if (!again) before.push({ eps, place, found: best.found, noise: one });
          return min(1, alone, earlier);
        },
      };
    });
  }

  Object.assign(gspa, { lineVictims });
});
