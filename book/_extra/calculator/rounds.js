// Many rounds of one mechanism: the losses' sum by a tilted Fourier transform: gspa/accountant/rounds.py.
//
// With K the sum of log E0[e^(theta loss)] over the rounds and p the law of the total loss s tilted by theta,
// delta(eps) = e^(K - theta eps) sum_s p(s) (1 - e^(eps - s)) e^(-theta (s - eps)): where theta centres p at eps, the
// transform's noise is small relative to delta, however small that is.
"use strict";
(self.gspaParts = self.gspaParts || []).push(function (gspa) {
  const STEPS = 250; // grid steps in a round's standard deviation
  const POINTS = 2 ** 20; // about as many in the sum's window, at most
  const OUTSIDE = Math.log(1e-20); // of the tilted law, outside the window
  const GRID = 2 ** 19; // points of a round's own grid, at most: a coarser one makes the interval wider, not wrong
  const MOST = 2 ** 22; // points of a transform
  const LARGEST = 300; // of an exponent
  const NOISE = 2e-14, PER_ROUND = 8e-15; // of one transform, relative to the law's largest mass; of each round's power

  const largestExponent = ({ step, first, mass }, theta) => Math.max(theta * step * first, theta * step * (first + mass.length - 1));

  // K(theta) and its first two derivatives.
  function logMoment(law, times, theta) {
    const { step, first, mass } = law, size = mass.length, top = largestExponent(law, theta);
    let total = 0, one = 0, two = 0;
    for (let i = 0; i < size; i++) {
      if (!(mass[i] > 0)) continue;
      const loss = step * (first + i), weight = mass[i] * Math.exp(theta * loss - top);
      total += weight;
      one += weight * loss;
    }
    const mean = one / total;
    for (let i = 0; i < size; i++) {
      if (!(mass[i] > 0)) continue;
      const loss = step * (first + i);
      two += mass[i] * Math.exp(theta * loss - top) * (loss - mean) ** 2;
    }
    return { whole: times * (Math.log(total) + top), mean: times * mean, variance: times * two / total };
  }

  // theta >= 0 at which the saddle-point approximation of delta is about the target.
  function tiltForDelta(law, times, logTarget) {
    const excess = (theta) => {
      const { whole, mean, variance } = logMoment(law, times, theta), width = Math.sqrt(Math.max(variance, law.step ** 2));
      return whole - theta * mean - Math.log1p(theta) - Math.log(2.5 * theta * width + 1) - logTarget;
    };
    let low = 0, high = 1 / Math.sqrt(logMoment(law, times, 0).variance);
    if (excess(1e-3 * high) < 0) return 0;
    // A tilt that differs much from one grid point to the next is of no use.
    while (excess(high) > 0 && high < 0.5 / law.step) [low, high] = [high, 2 * high];
    for (let i = 0; i < 12; i++) {
      const middle = (low + high) / 2;
      if (excess(middle) > 0) low = middle;
      else high = middle;
    }
    return low;
  }

  // theta >= 0 at which the tilted mean is about eps.
  function tiltForMean(law, times, eps) {
    const { mean, variance } = logMoment(law, times, 0);
    if (mean >= eps) return 0;
    let low = 0, high = 1 / Math.sqrt(variance);
    while (logMoment(law, times, high).mean < eps && high < 0.5 / law.step) [low, high] = [high, 2 * high];
    for (let i = 0; i < 16; i++) {
      const middle = (low + high) / 2;
      if (logMoment(law, times, middle).mean < eps) low = middle;
      else high = middle;
    }
    return low;
  }

  // An interval that holds all but `outside` of the tilted law: Chernoff on each side.
  function windowOf(law, times, theta, { whole, mean, variance }) {
    const width = Math.max(Math.sqrt(variance), law.step), ends = [];
    let outside = 0;
    for (const sign of [-1, 1]) {
      for (let reach = 9.6; ; reach *= 1.15) {
        const distance = reach * width + law.step;
        const bound = Math.min(
          ...[1, 0.5, 0.2, 0.05].map((part) => {
            const push = sign * part * reach / width;
            return logMoment(law, times, theta + push).whole - whole - push * (mean + sign * distance);
          }),
        );
        if (bound < OUTSIDE || 2 * distance / law.step > MOST) {
          ends.push(mean + sign * distance);
          outside += Math.exp(Math.min(bound, 0));
          break;
        }
      }
    }
    return { low: ends[0], high: ends[1], outside };
  }

  // z^times for z = a + ib, in place, by squaring.
  function power(real, imaginary, times) {
    for (let j = 0; j < real.length; j++) {
      let a = real[j], b = imaginary[j], c = 1, d = 0;
      for (let left = times; left > 0; left = Math.floor(left / 2)) {
        if (left % 2) [c, d] = [c * a - d * b, c * b + d * a];
        [a, b] = [a * a - b * b, 2 * a * b];
      }
      real[j] = c;
      imaginary[j] = d;
    }
  }

  // The tilted law of the sum of all rounds' losses in a window, ready for many eps.
  function tail(law, times, theta) {
    const moment = logMoment(law, times, theta), { step, first, mass } = law, { mean } = moment;
    const { low, high, outside } = windowOf(law, times, theta, moment);
    const length = gspa.powerOfTwo(Math.max(64, (high - low) / step + 2));
    const real = new Float64Array(length), imaginary = new Float64Array(length);
    const wrap = (index) => ((index % length) + length) % length, top = largestExponent(law, theta);
    let total = 0;
    for (let i = 0; i < mass.length; i++) {
      const weight = mass[i] > 0 ? mass[i] * Math.exp(theta * step * (first + i) - top) : 0;
      total += weight;
      real[wrap(first + i)] += weight;
    }
    for (let j = 0; j < length; j++) real[j] /= total;
    gspa.fourier(real, imaginary, -1);
    power(real, imaginary, times);
    let peak = 0;
    for (let j = 0; j < length; j++) peak += Math.hypot(real[j], imaginary[j]) / length;
    gspa.fourier(real, imaginary, 1);
    // Far below the centre the factor would overflow; whoever asks there needs a smaller tilt.
    const start = Math.floor(low / step), least = theta > 0 ? mean - LARGEST / theta : -Infinity;
    const begin = Math.max(start, Math.floor(least / step) + 1), size = start + length - begin;
    const weight = new Float64Array(size);
    for (let i = 0; i < size; i++) {
      const index = begin + i;
      weight[i] = Math.max(real[wrap(index)] / length, 0) * Math.exp(-theta * (index * step - mean));
    }
    return {
      step, weight, theta, outside, times, lowest: begin * step, bottom: (begin + 1) * step, centre: mean,
      logScale: moment.whole - theta * mean, noise: peak * (NOISE + PER_ROUND * times), slip: 1e-9 * step * times,
    };
  }

  // sum of weight (1 - e^{eps - loss}) over the losses above eps, and of weight e^{eps - loss}.
  function sumAhead(law, eps) {
    const from = Math.max(0, Math.floor((eps - law.lowest) / law.step) + 1);
    let value = 0, shrunk = 0, count = 0;
    for (let i = from; i < law.weight.length; i++) {
      const ahead = law.lowest + law.step * i - eps;
      if (!(ahead > 0)) continue;
      const part = Math.expm1(-ahead);
      count++;
      value -= law.weight[i] * part;
      shrunk += law.weight[i] * (1 + part);
    }
    return { value, shrunk, count };
  }

  function logDelta(law, eps) {
    const { value, shrunk } = sumAhead(law, eps);
    return value > 0 ? { log: Math.log(value) + law.logScale, slope: -shrunk / value } : { log: -Infinity, slope: 0 };
  }

  // {lower, value, upper} of the finite part of delta(eps) of this grid law.
  function deltaAt(law, eps) {
    const { value, count } = sumAhead(law, eps);
    // sum over s > eps of min(1, s - eps) e^(-theta (s - eps)), at most its integral and one term
    const reach = Math.min(law.theta > 0 ? 1 / law.theta : Infinity, count * law.step);
    const spreadOut = law.noise * Math.min(1, reach) * (reach / law.step + 1);
    const error = (spreadOut + law.outside) * Math.exp(Math.min(law.theta * (law.centre - eps), LARGEST));
    const relative = 1e-9 + 2e-11 * law.times, scale = Math.exp(Math.min(law.logScale, 700));
    return {
      lower: Math.max(0, (value - error) * scale * (1 - relative)), value: value * scale,
      upper: (value + error) * scale * (1 + relative),
    };
  }

  // One round's losses on a grid from both sides, with the mass at infinity.
  function sidesOf(problem, times, delta) {
    const depth = Math.min(25 + Math.log(times) - Math.log(delta), 680);
    const above = gspa.atoms(problem, depth, true), below = gspa.atoms(problem, depth, false);
    const spreadOut = gspa.variance(above);
    if (spreadOut === 0) return null;
    const [most, least] = [above, below].map(({ loss }) => loss.reduce((top, at) => Math.max(top, at), 0));
    const coarse = Math.max(Math.sqrt(spreadOut) / STEPS, 20 * Math.sqrt(times * spreadOut) / POINTS, 2 * Math.max(most, least) / GRID);
    const step = problem.eps / Math.ceil(problem.eps / coarse); // the largest loss is on the grid
    return {
      times, upper: gspa.spread(above, step), lower: gspa.merge(below, step),
      infinite: -Math.expm1(times * Math.log1p(-above.missing)),
    };
  }

  function root(law, logTarget) {
    let low = law.bottom, high = law.lowest + law.step * law.weight.length, eps = Math.min(Math.max(law.centre, low), high);
    for (let i = 0; i < 60; i++) {
      const { log, slope } = logDelta(law, eps);
      if (log > logTarget) low = eps;
      else high = eps;
      if (Math.abs(log - logTarget) < 1e-12 || high - low < 1e-15 * Math.max(Math.abs(high), 1e-300)) break;
      const next = slope < 0 ? eps - (log - logTarget) / slope : (low + high) / 2;
      eps = low < next && next < high ? next : (low + high) / 2;
    }
    return eps;
  }

  // The first of eps, eps plus or minus pushes, at which the bound is on the right side of the target.
  function prove(law, eps, target, above) {
    const { lower, value, upper } = deltaAt(law, Math.max(eps, law.bottom)), { slope } = logDelta(law, Math.max(eps, law.bottom));
    let push = 1e-12 * Math.max(Math.abs(eps), law.step) + law.slip;
    if (value > 0 && slope < 0) {
      const wide = above ? upper / target - 1 : target / Math.max(lower, 1e-300) - 1;
      push = Math.max(push, 1.5 * Math.min(wide, 1e3) / -slope);
    }
    for (let i = 0; i < 60; i++, push *= 2) {
      const at = Math.max(eps, 0), there = deltaAt(law, above ? at - law.slip : at + law.slip);
      if (at >= law.bottom && (above ? there.upper <= target : there.lower >= target)) return at;
      if (!above && at === 0) return 0;
      eps += above ? push : -push;
    }
    return above ? Infinity : 0;
  }

  // {lower, value, upper} of the eps of `times` rounds at delta.
  function composedEpsilon(sides, epsVictim, delta) {
    if (sides === null) return { lower: 0, value: 0, upper: 0 };
    const { times } = sides;
    const [upper, lower] = [true, false].map((above) => {
      const law = above ? sides.upper : sides.lower, target = delta - (above ? sides.infinite : 0);
      if (target <= 0) return Infinity;
      let theta = tiltForDelta(law, times, Math.log(target)), found, eps;
      for (let i = 0; i < 4; i++) {
        found = tail(law, times, theta);
        eps = root(found, Math.log(target));
        if (eps > found.bottom) break;
        theta = theta === 0 ? 0 : tiltForMean(law, times, eps);
      }
      const slack = 1e-13 * (1 + delta / target);
      return Math.min(prove(found, eps, target * (above ? 1 - slack : 1 + slack), above), times * epsVictim);
    });
    return { lower: Math.min(lower, upper), value: 0.5 * (Math.min(lower, upper) + upper), upper };
  }

  // Upper ends of delta at each of many eps, from a few tilted laws.
  function composedCurve(sides, epsVictim, eps) {
    if (sides === null) return eps.map(() => 0);
    const { times, upper } = sides, last = Math.min(eps[eps.length - 1], times * epsVictim), tails = [];
    for (const share of eps.length === 1 ? [1] : [0, 0.35, 0.7, 1]) tails.push(tail(upper, times, tiltForMean(upper, times, share * last)));
    return eps.map((at) => {
      if (at >= times * epsVictim) return 0;
      const ends = tails.filter((law) => at - law.slip >= law.bottom).map((law) => deltaAt(law, at - law.slip).upper);
      return Math.min(1, sides.infinite + Math.min(...ends));
    });
  }

  Object.assign(gspa, { sidesOf, composedEpsilon, composedCurve });
});
