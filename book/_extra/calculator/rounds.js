// Many rounds of one mechanism, of which only upper ends of delta(eps) are known: gspa/accountant/losses.py and rounds.py.
//
// With x = e^eps - 1 the greatest convex function below upper ends at a few points is the delta(eps) of a pair, whose
// losses are the logarithms of its corners. That pair dominates, also when rounds are composed (Zhu et al. 2022).
// Spreading a loss to its neighbours on a grid with its mean of e^-loss kept does not lower delta, either. With K the sum
// of log E0[e^(theta loss)] over the rounds and p the law of the total loss s tilted by theta,
// delta(eps) = e^(K - theta eps) sum_s p(s) (1 - e^(eps - s)) e^(-theta (s - eps)): where theta centres p at eps, the
// transform's noise is small relative to delta, however small that is.
"use strict";
(self.gspaParts = self.gspaParts || []).push(function (gspa) {
  const { ceil, exp, expm1, floor, log, log1p, max, min, sqrt } = Math;
  const LEFT = 2e-4; // of the rounds' share of delta: what may be left to the infinite loss
  const VALUES = 400, GROWTH = 1.04, STRIDE = 1.5, FLAT = 0.99; // of a curve: values at most, how its steps grow beyond three deviations, and where it is flat
  const LARGEST = 500; // of an eps
  const STEPS = 250, GRID = 2 ** 22; // grid steps in a round's standard deviation; of the sum's window, at most
  const OUTSIDE = log(1e-20); // of the tilted law, outside the window
  const EXPONENT = 300, NOISE = 2e-14, PER_ROUND = 8e-15; // of one transform, relative to its largest mass, and of each round

  // In place: sum_j x_j e^(sign 2 pi i j k/length), of a length that is a power of two.
  function fourier(real, imaginary, sign) {
    const length = real.length, cos = new Float64Array(length / 2), sin = new Float64Array(length / 2);
    for (let k = 0; k < length / 2; k++) {
      cos[k] = Math.cos(2 * Math.PI * k / length);
      sin[k] = sign * Math.sin(2 * Math.PI * k / length);
    }
    for (let i = 1, j = 0; i < length; i++) {
      let bit = length >> 1;
      for (; j & bit; bit >>= 1) j ^= bit;
      j ^= bit;
      if (i < j) {
        [real[i], real[j]] = [real[j], real[i]];
        [imaginary[i], imaginary[j]] = [imaginary[j], imaginary[i]];
      }
    }
    for (let half = 1; half < length; half *= 2) {
      const stride = length / (2 * half);
      for (let start = 0; start < length; start += 2 * half) {
        for (let k = 0, i = start, j = start + half; k < half; k++, i++, j++) {
          const c = cos[k * stride], s = sin[k * stride], a = real[j] * c - imaginary[j] * s, b = real[j] * s + imaginary[j] * c;
          real[j] = real[i] - a;
          imaginary[j] = imaginary[i] - b;
          real[i] += a;
          imaginary[i] += b;
        }
      }
    }
  }

  // A generator of {x, y}: e^eps - 1 and upper ends of delta where a curve bends, down to `least`.
  function* sampled(delta, width, per, top, least) {
    const x = [], y = [];
    let eps = 0, step = width / per, lowest = 1;
    while (x.length < VALUES) {
      const value = delta(eps);
      yield {};
      x.push(expm1(eps));
      y.push(value);
      if ((value <= least && x.length > 3) || eps > LARGEST) break;
      if (eps > 3 * width) step *= value > FLAT * lowest ? STRIDE : GROWTH;
      lowest = min(lowest, value);
      eps = eps < top ? min(eps + step, top) : eps + step;
    }
    return { x, y };
  }

  // {loss, mass, missing} of the pair above such a curve, the same in both orders of the inputs; `missing` has no bound.
  function dominating({ x, y }) {
    let least = Infinity, centre = Infinity;
    const ahead = y.map((value) => (least = min(least, value)));
    ahead.forEach((value, i) => (centre = min(centre, (value + x[i]) / (1 + x[i]))));
    for (;;) { // at eps = 0 an edge from one order's points to the other's may be part of the hull
      let slope = Infinity, edge = centre;
      for (let i = 1; i < x.length; i++) {
        const value = min(ahead[i], centre), now = (value - centre) / x[i];
        if (now < slope) [slope, edge] = [now, (1 + 2 * value / x[i]) / (1 + 2 / x[i])];
      }
      if (!(edge < centre)) break;
      centre = edge;
    }
    const height = (i) => (i ? min(ahead[i], centre) : centre), corner = [];
    for (let i = 0; i < x.length; i++) {
      while (corner.length > 1) {
        const [a, b] = corner.slice(-2);
        if ((height(b) - height(a)) * (x[i] - x[b]) < (height(i) - height(b)) * (x[b] - x[a])) break;
        corner.pop();
      }
      corner.push(i);
    }
    const slope = corner.slice(1).map((j, i) => (height(j) - height(corner[i])) / (x[j] - x[corner[i]]));
    const loss = [0], mass = [max(0, 1 - centre + 2 * (slope[0] ?? 0))];
    corner.slice(1).forEach((j, i) => {
      const more = max((slope[i + 1] ?? 0) - slope[i], 0);
      loss.push(log1p(x[j]), -log1p(x[j]));
      mass.push((1 + x[j]) * more, more);
    });
    return { loss, mass, missing: height(x.length - 1) };
  }

  // Of `times` rounds, the losses of each on a grid that has the largest one: {step, times, place, mass, infinite}.
  function gridOf({ loss, mass, missing }, times, top) {
    const mean = mass.reduce((sum, p, i) => sum + p * loss[i], 0), spread = max(mass.reduce((sum, p, i) => sum + p * (loss[i] - mean) ** 2, 0), missing);
    const most = loss.reduce((a, b) => max(a, b), 0), held = new Map();
    if (most === 0) return null;
    let step = max(sqrt(spread) / STEPS, 20 * sqrt(times * spread) / GRID, 4 * most / GRID);
    if (Number.isFinite(top)) step = top / ceil(top / step);
    const add = (cell, p) => held.set(cell, (held.get(cell) ?? 0) + p);
    loss.forEach((at, i) => {
      const cell = floor(at / step), up = mass[i] * expm1(-min(max(at - cell * step, 0), step)) / expm1(-step);
      add(cell, mass[i] - up);
      add(cell + 1, up);
    });
    const place = [...held.keys()].filter((cell) => held.get(cell) > 0);
    return { step, times, place, mass: place.map((cell) => held.get(cell)), infinite: -expm1(times * log1p(-missing)) };
  }

  // K(theta) and its first two derivatives.
  function logMoment({ step, times, place, mass }, theta) {
    const top = place.reduce((a, cell) => max(a, theta * step * cell), -Infinity), weight = place.map((cell, i) => mass[i] * exp(theta * step * cell - top));
    const total = weight.reduce((sum, w) => sum + w, 0), mean = weight.reduce((sum, w, i) => sum + w * step * place[i], 0) / total;
    const variance = weight.reduce((sum, w, i) => sum + w * (step * place[i] - mean) ** 2, 0) / total;
    return { whole: times * (log(total) + top), mean: times * mean, variance: times * variance, width: max(sqrt(times * variance), step) };
  }

  // The theta >= 0 up to which `below` holds; a tilt that differs much from one grid point to the next is of no use.
  function tilted(law, below) {
    let low = 0, high = 1 / logMoment(law, 0).width;
    if (!below(logMoment(law, 1e-3 * high), 1e-3 * high)) return 0;
    while (below(logMoment(law, high), high) && high < 0.5 / law.step) [low, high] = [high, 2 * high];
    for (let i = 0; i < 14; i++) {
      const middle = (low + high) / 2;
      if (below(logMoment(law, middle), middle)) low = middle;
      else high = middle;
    }
    return low;
  }
  // Where the tilted mean is about eps, and where the saddle-point approximation of delta is about the target.
  const tiltForMean = (law, eps) => tilted(law, ({ mean }) => mean < eps);
  const tiltForDelta = (law, target) => tilted(law, ({ whole, mean, width }, theta) =>
    whole - theta * mean - log1p(theta) - log(2.5 * theta * width + 1) > target);

  // An interval that holds all but `outside` of the tilted law: Chernoff on each side.
  function windowOf(law, theta, { whole, mean, width }) {
    let outside = 0;
    const ends = [-1, 1].map((sign) => {
      for (let reach = 9.6; ; reach *= 1.15) {
        const distance = reach * width + law.step, pushes = [1, 0.5, 0.2, 0.05].map((part) => part * reach / width);
        if (reach > 40) pushes.push(...[50, 60, 80, 120].map((exponent) => exponent / distance)); // a rare large loss
        const bound = min(...pushes.map((push) => logMoment(law, theta + sign * push).whole - whole - sign * push * (mean + sign * distance)));
        if (!(bound >= OUTSIDE) || 2 * distance / law.step > GRID) {
          outside += exp(min(bound, 0));
          return mean + sign * distance;
        }
      }
    });
    return { low: ends[0], high: ends[1], outside };
  }

  // The tilted law of the sum of all rounds' losses in a window, ready for many eps.
  function tail(law, theta) {
    const found = logMoment(law, theta), { step, times, place, mass } = law, { mean, whole } = found, { low, high, outside } = windowOf(law, theta, found);
    const length = 2 ** ceil(Math.log2(max(64, (high - low) / step + 2))), real = new Float64Array(length), imaginary = new Float64Array(length);
    const wrap = (cell) => ((cell % length) + length) % length;
    place.forEach((cell, i) => (real[wrap(cell)] += mass[i] * exp(theta * step * cell - whole / times)));
    fourier(real, imaginary, -1);
    let peak = 0;
    for (let j = 0; j < length; j++) { // each to the power of `times`, by squaring
      let a = real[j], b = imaginary[j], c = 1, d = 0;
      for (let left = times; left > 0; left = floor(left / 2)) {
        if (left % 2) [c, d] = [c * a - d * b, c * b + d * a];
        [a, b] = [a * a - b * b, 2 * a * b];
      }
      [real[j], imaginary[j]] = [c, d];
      peak += Math.hypot(c, d) / length;
    }
    fourier(real, imaginary, 1);
    // Far below the centre the factor would overflow; whoever asks there needs a smaller tilt.
    const start = floor(low / step), begin = max(start, floor((theta > 0 ? mean - EXPONENT / theta : -Infinity) / step) + 1);
    const weight = Float64Array.from({ length: start + length - begin }, (_, i) =>
      max(real[wrap(begin + i)] / length, 0) * exp(-theta * ((begin + i) * step - mean)));
    return {
      step, weight, theta, outside, times, mean, lowest: begin * step, bottom: (begin + 1) * step, slip: 1e-9 * step * times,
      scale: whole - theta * mean, noise: peak * (NOISE + PER_ROUND * times),
    };
  }

  // {value, slope, upper} of log delta(eps) of a grid law without what has no bound.
  function logDelta(law, eps) {
    const { step, weight, lowest, theta } = law, from = max(0, floor((eps - lowest) / step) + 1);
    let sum = 0, shrunk = 0;
    for (let i = from; i < weight.length; i++) {
      const part = expm1(min(eps - lowest - step * i, 0));
      sum -= weight[i] * part;
      shrunk += weight[i] * (1 + part);
    }
    // sum over s > eps of min(1, s - eps) e^(-theta (s - eps)), at most its integral and one term
    const reach = min(theta > 0 ? 1 / theta : Infinity, max(weight.length - from, 0) * step), scattered = law.noise * min(1, reach) * (reach / step + 1);
    const error = (scattered + law.outside) * exp(min(theta * (law.mean - eps), EXPONENT));
    return { value: log(sum) + law.scale, slope: -shrunk / sum, upper: log(sum + error) + law.scale + log1p(1e-9 + 2e-11 * law.times) };
  }

  // A generator of what so many rounds of victims, as in families.js, amount to at about this delta; null if to nothing.
  function* composed(victims, times, delta, per) {
    const top = victims.reduce((most, one) => max(most, one.top), 0), mu = victims.reduce((most, one) => max(most, one.mu), 0);
    if (!(top > 0 && mu > 0)) return null;
    const order = [...victims]; // who was the worst comes first, so that the others need not be known as well
    const worst = (eps) => {
      let most = 0, at = 0;
      order.forEach((one, i) => {
        const value = eps < one.top ? one.delta(eps, most) : 0;
        if (value > most) [most, at] = [value, i];
      });
      order.unshift(...order.splice(at, 1));
      return most;
    };
    const curve = yield* sampled(worst, min(mu, top, LARGEST), per, top, LEFT * delta / times), law = gridOf(dominating(curve), times, top);
    return law && { law, most: times * top };
  }

  // Not below the eps of all rounds at delta.
  function composedEpsilon(all, delta) {
    if (all === null) return 0;
    const { law, most } = all, target = log(delta - law.infinite);
    if (!(target > -Infinity)) return most;
    let theta = tiltForDelta(law, target), found, eps;
    for (let i = 0; i < 4; i++) {
      found = tail(law, theta);
      let low = found.bottom, high = found.lowest + found.step * found.weight.length;
      eps = min(max(found.mean, low), high);
      for (let j = 0; j < 60; j++) {
        const { value, slope } = logDelta(found, eps), next = eps - (value - target) / slope;
        if (value > target) low = eps;
        else high = eps;
        if (Math.abs(value - target) < 1e-12 || high - low < 1e-15 * high) break;
        eps = low < next && next < high ? next : (low + high) / 2;
      }
      if (eps > found.bottom) break;
      theta = theta && tiltForMean(law, eps);
    }
    eps = max(eps, 0);
    for (let push = 1e-12 * max(eps, law.step) + found.slip; push < most; push *= 2, eps += push) {
      if (eps >= found.bottom && logDelta(found, eps - found.slip).upper <= target) return min(eps, most);
    }
    return most;
  }

  // Upper ends of delta of all rounds at each of many eps, from a few tilted laws.
  function composedDeltas(all, eps) {
    if (all === null) return eps.map(() => 0);
    const { law, most } = all, last = min(eps[eps.length - 1], most);
    const tails = (eps.length === 1 ? [1] : [0, 0.35, 0.7, 1]).map((share) => tail(law, tiltForMean(law, share * last)));
    return eps.map((at) => (at >= most ? 0 : min(1, law.infinite + min(1,
      ...tails.filter(({ slip, bottom }) => at - slip >= bottom).map((one) => exp(logDelta(one, at - one.slip).upper))))));
  }

  Object.assign(gspa, { composed, composedEpsilon, composedDeltas });
});
