// The dominating pair: delta(eps), and the eps at a delta, certified on both sides: gspa/accountant/pair.py.
//
// Of the others' reports C are copies of the victim's two outcomes, A ~ Bin(C, 1/2) of them of the first; the victim
// reports the first with odds e^{eps_n}. What is seen is how many reports are of each outcome.
"use strict";
(self.gspaParts = self.gspaParts || []).push(function (gspa) {
  const RELATIVE = 1e-11; // allowance for rounding on each divergence
  const LARGEST = 700; // e^eps is finite
  const SLACK = 8e-16; // relative rounding of the target delta
  const COARSE = 300, FULL = 500; // counts that the search for a root looks at; up to which it looks at all

  // h_c, the divergence given C = c. With T = tanh(eps_n/2) and D = (T - tanh(eps/2)) (1 + e^eps)/2,
  //   x = (c+1) D / (T (1+e^eps)),  l = ceil(x) - 1,  u = x - l,  d = c + 1 - 2l,
  //   h_c = b(l) (u T (1+e^eps) + (e^eps - 1) l J) / d,
  // in which every term is positive: no digit is lost, however small h_c is. It falls with c.
  function divergenceGiven(c, epsVictim, eps) {
    const small = Math.exp(-eps), excess = -Math.expm1(eps - epsVictim) / (1 + Math.exp(-epsVictim));
    const truth = Math.max(Math.tanh(epsVictim / 2), Number.MIN_VALUE);
    const x = (c + 1) * Math.max(excess, 0) / truth * (small / (1 + small));
    const l = Math.min(Math.max(Math.ceil(x) - 1, 0), Math.floor(c / 2));
    if (l === 0) return Math.pow(2, -c) * Math.max(excess, 0);
    const d = c + 1 - 2 * l, grown = Math.min(eps, LARGEST);
    const head = truth * Math.max(x - l, 0) * (Math.exp(grown) + 1);
    return gspa.fairMass(l, c) * (head + Math.expm1(grown) * l * gspa.tailIntegral(c + 1, d)) / d;
  }

  // {lower, value, upper} of delta(eps). The first count of a block bounds h_c from above, the next block's first
  // from below; the mass outside the window is added to the upper end.
  function divergence(law, epsVictim, eps) {
    if (eps >= epsVictim) return { lower: 0, value: 0, upper: 0 };
    const { edges, mass, error } = law, given = edges.map((c) => divergenceGiven(c, epsVictim, eps));
    let low = 0, value = 0, high = 0;
    for (let i = 0; i < mass.length; i++) {
      const least = edges[i + 1] - edges[i] === 1 ? given[i] : given[i + 1];
      low += Math.max(mass[i] - error[i], 0) * least;
      value += mass[i] * 0.5 * (given[i] + least);
      high += (mass[i] + error[i]) * given[i];
    }
    high += law.above * given[mass.length];
    if (law.below > 0) high += law.below * divergenceGiven(law.far, epsVictim, eps);
    if (law.farMass > 0) high += law.farMass * divergenceGiven(0, epsVictim, eps);
    const lower = low * (1 - RELATIVE), upper = Math.min(high * (1 + RELATIVE), 1);
    return { lower, value: Math.min(Math.max(value, lower), upper), upper };
  }

  // delta(eps) from a law's first counts alone; nothing certified.
  function estimate(law, epsVictim, eps) {
    if (eps >= epsVictim) return 0;
    let total = 0;
    for (let i = 0; i < law.mass.length; i++) total += law.mass[i] * divergenceGiven(law.edges[i], epsVictim, eps);
    return total;
  }

  // About d log h_c/dc = -KL(Bern(theta), Bern(1/2)), theta the best test's share of the counts.
  function slopeAt(epsVictim, eps) {
    if (eps === 0) return 0;
    const excess = Math.min(1, Math.tanh(eps / 2) / Math.tanh(epsVictim / 2)), down = (1 - excess) / 2, up = (1 + excess) / 2;
    return -(Math.log(2) + up * Math.log(up) + (down > 0 ? down * Math.log(down) : 0));
  }

  function gaussianGuess({ eps, mean }, target) {
    const mu = mean > 0 ? Math.tanh(eps / 2) * Math.sqrt(4 / mean) : Infinity;
    if (mu > 10) return 0.9 * eps;
    return Math.min(Math.max(gspa.gdpEpsilon(target, mu), 1e-3 * mu), 0.95 * eps);
  }

  // A root of a decreasing f from x, and f' there: secant steps kept in a bracket, which may be open.
  function findRoot(f, x) {
    let left = -Infinity, right = Infinity, y = f(x), slope = 0, step = 1e-3;
    for (let i = 0; i < 100 && y !== 0; i++) {
      if (y > 0) left = x;
      else right = x;
      if (slope < 0 && Number.isFinite(y)) step = Math.min(Math.max(-y / slope, -2), 2);
      else step = Math.sign(y) * (slope === 0 && Number.isFinite(y) ? 1e-3 : 1);
      let next = x + step;
      if (!(left < next && next < right)) {
        const open = !Number.isFinite(left) || !Number.isFinite(right);
        next = open ? x + Math.sign(y) * 2 * Math.abs(step) : (left + right) / 2;
      }
      if (Math.abs(next - x) < 1e-12 * Math.max(1, Math.abs(x))) break;
      const value = f(next);
      slope = Number.isFinite(value) && Number.isFinite(y) ? (value - y) / (next - x) : 0;
      x = next;
      y = value;
      if (slope < 0 && Math.abs(y) < 1e-11) break;
    }
    return { x, slope };
  }

  // The first of y + push, y + 2 push, ... whose eps is proved, or `last`, which always holds.
  function prove(holds, y, push, at, last) {
    for (; Math.abs(push) < 80; push *= 2) {
      const eps = at(y + push);
      if (holds(eps)) return eps;
    }
    return last;
  }

  // A population as the accountant sees it. `mechanism` is "rr" (binary randomized response, own budgets: clones with
  // probability 2/(1 + e^eps_j)) or "common" (any one eps0-LDP randomizer: e^{-eps0}, Feldman et al. 2021).
  // The user with the largest eps is the worst; budgets are [{eps, count}], each eps once, increasing.
  function problemOf(budgets, mechanism) {
    const eps = budgets[budgets.length - 1].eps;
    const groups = budgets.map((group, i) => {
      const small = Math.exp(-group.eps), count = group.count - (i === budgets.length - 1 ? 1 : 0);
      if (mechanism === "common") return { q: small, rest: -Math.expm1(-group.eps), count };
      return { q: 2 * small / (1 + small), rest: -Math.expm1(-group.eps) / (1 + small), count };
    });
    const mean = groups.reduce((total, { q, count }) => total + q * count, 0);
    return { eps, groups, mean };
  }

  // {lower, value, upper} of the least eps at which the worst user is (eps, delta)-DP: upper satisfies (upper bound
  // on delta there) <= delta, and lower (lower bound on delta there) >= delta.
  function epsilonOf(problem, delta) {
    const { eps: top } = problem, zero = { lower: 0, value: 0, upper: 0 };
    if (top === 0) return zero;
    const law = gspa.cloneLaw(problem.groups, { depth: 25 - Math.log(delta), slope: slopeAt(top, gaussianGuess(problem, delta)) });
    const least = delta * (1 + SLACK), most = delta * (1 - SLACK);
    const search = law.mass.length <= FULL ? law : gspa.sampleLaw(law, COARSE), atZero = estimate(search, top, 0);
    let low0 = 1;
    if (atZero < 1.1 * delta) { // else the sums below find a positive eps anyway
      const there = divergence(law, top, 0);
      low0 = there.lower;
      if (there.upper <= most) return zero;
    }
    const at = (y) => top / (1 + Math.exp(-y));
    let y = -36, slope = 0;
    if (atZero > delta) {
      const guess = gaussianGuess(problem, delta) / top;
      ({ x: y, slope } = findRoot((z) => Math.log(estimate(search, top, at(z)) / delta), Math.log(guess / (1 - guess))));
    }
    const found = divergence(law, top, at(y));
    let pushes = [1e-9, 1e-9];
    if (found.value > 0 && slope < 0) {
      // One Newton step from the coarse root; then steps outwards that should just suffice.
      const residual = Math.log(found.value / delta), spare = 0.02 * Math.abs(residual) + 4 * SLACK;
      y -= residual / slope;
      pushes = [found.upper / found.value, found.value / Math.max(found.lower, 1e-300)].map(
        (wide) => Math.min(Math.max(1.01 * (Math.log(wide) + spare) / -slope, 0) + 1e-12, 1),
      );
    }
    const upper = prove((eps) => divergence(law, top, eps).upper <= most, y, pushes[0], at, top);
    const lower = low0 >= least ? prove((eps) => divergence(law, top, eps).lower >= least, y, -pushes[1], at, 0) : 0;
    return { lower, value: Math.min(Math.max(at(y), lower), upper), upper };
  }

  // {lower, value, upper} of delta(eps).
  function deltaOf(problem, eps) {
    if (eps >= problem.eps) return { lower: 0, value: 0, upper: 0 };
    for (let depth = 60; ; depth *= 2) {
      const law = gspa.cloneLaw(problem.groups, { depth, slope: slopeAt(problem.eps, eps) });
      const found = divergence(law, problem.eps, eps);
      // A delta so small that the mass left out shows: leave out less.
      if (depth > 700 || found.value > 1e6 * Math.exp(-depth)) return found;
    }
  }

  Object.assign(gspa, { problemOf, epsilonOf, deltaOf });
});
