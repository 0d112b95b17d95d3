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

  // The divergence given C = c, per unit of mass, for a victim of truth T; with D = (T - tanh(eps/2)) (1 + e^eps)/2,
  //   x = (c+1) D / (T (1+e^eps)),  l = ceil(x) - 1,  u = x - l,  d = c + 1 - 2l,
  //   h_c = b(l) (u T (1+e^eps) + (e^eps - 1) l J) / d,
  // in which every term is positive: no digit is lost, however small h_c is. It falls with c.
  function divergenceGiven(c, eps, truth, excess) {
    const small = Math.exp(-eps);
    const x = (c + 1) * Math.max(excess, 0) / truth * (small / (1 + small));
    const l = Math.min(Math.max(Math.ceil(x) - 1, 0), Math.floor(c / 2));
    if (l === 0) return Math.pow(2, -c) * Math.max(excess, 0);
    const d = c + 1 - 2 * l, grown = Math.min(eps, LARGEST);
    const head = truth * Math.max(x - l, 0) * (Math.exp(grown) + 1);
    return gspa.fairMass(l, c) * (head + Math.expm1(grown) * l * gspa.tailIntegral(c + 1, d)) / d;
  }

  // The divergence per unit of P(C = c), where P(C = c+1) = ratio P(C = c) given what is revealed. The total c + 1
  // hides whether the victim said "neither", which adds the same mass to both outcomes. Falls with c and the ratio.
  function term(c, victim, eps, ratio = 0) {
    const truth = Math.max(Math.tanh(victim.eps / 2), Number.MIN_VALUE), gap = Math.expm1(eps - victim.eps);
    if (victim.hidden === 0) return victim.seen * divergenceGiven(c, eps, truth, -gap / (1 + Math.exp(-victim.eps)));
    const hidden = ratio * victim.hidden, mass = victim.seen + hidden;
    const spare = -victim.low * Math.exp(victim.eps) * gap;
    return mass * divergenceGiven(c, eps, victim.seen * truth / mass, (spare - 0.5 * Math.expm1(eps) * hidden) / mass);
  }

  // Sum of mass times divergence over the entries of a law of blankets.
  function entriesSum({ clones, ratio, mass }, victim, eps) {
    let total = 0;
    for (let i = 0; i < clones.length; i++) total += mass[i] * term(clones[i], victim, eps, ratio[i]);
    return total;
  }

  function ordered(low, value, high) {
    const lower = low * (1 - RELATIVE), upper = Math.min(high * (1 + RELATIVE), 1);
    return { lower, value: Math.min(Math.max(value, lower), upper), upper };
  }

  // An upper end of delta(eps). The first count of a block bounds h_c from above; the mass outside the window is added.
  function upperEnd(law, victim, eps, given = null) {
    if (eps >= victim.eps) return 0;
    if (law.blankets) return Math.min(entriesSum(law.upper, victim, eps) * (1 + RELATIVE), 1);
    const { edges, mass, error } = law, size = mass.length, at = (i) => (given ? given[i] : term(edges[i], victim, eps));
    let high = 0;
    for (let i = 0; i < size; i++) high += (mass[i] + error[i]) * at(i);
    high += law.above * at(size);
    if (law.below > 0) high += law.below * term(law.far, victim, eps);
    if (law.farMass > 0) high += law.farMass * term(0, victim, eps);
    return Math.min(high * (1 + RELATIVE), 1);
  }

  // {lower, value, upper} of delta(eps); from below the next block's first count bounds h_c.
  function divergence(law, victim, eps) {
    if (eps >= victim.eps) return { lower: 0, value: 0, upper: 0 };
    if (law.blankets) return ordered(...[law.lower, law.sample, law.upper].map((entries) => entriesSum(entries, victim, eps)));
    const { edges, mass, error } = law, given = edges.map((c) => term(c, victim, eps));
    let low = 0, value = 0;
    for (let i = 0; i < mass.length; i++) {
      const least = edges[i + 1] - edges[i] === 1 ? given[i] : given[i + 1];
      low += Math.max(mass[i] - error[i], 0) * least;
      value += mass[i] * 0.5 * (given[i] + least);
    }
    const upper = upperEnd(law, victim, eps, given), lower = low * (1 - RELATIVE);
    return { lower, value: Math.min(Math.max(value, lower), upper), upper };
  }

  // delta(eps) from a law's first counts alone; nothing certified.
  function estimate(law, victim, eps) {
    if (eps >= victim.eps) return 0;
    if (law.blankets) return entriesSum(law.sample, victim, eps);
    let total = 0;
    for (let i = 0; i < law.mass.length; i++) total += law.mass[i] * term(law.edges[i], victim, eps);
    return total;
  }

  // About d log h_c/dc = -KL(Bern(theta), Bern(1/2)), theta the best test's share of the counts.
  function slopeAt(victim, eps) {
    if (eps === 0) return 0;
    const truth = victim.seen / (victim.seen + victim.hidden) * Math.tanh(victim.eps / 2);
    const excess = Math.min(1, Math.tanh(eps / 2) / truth), down = (1 - excess) / 2, up = (1 + excess) / 2;
    return -(Math.log(2) + up * Math.log(up) + (down > 0 ? down * Math.log(down) : 0));
  }

  // eps of the Gaussian limit, the victim among `mean` clones.
  function gaussianGuess({ eps, seen }, mean, target) {
    const mu = mean > 0 ? seen * Math.tanh(eps / 2) * Math.sqrt(4 / mean) : Infinity;
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

  // The first of y + push, y + 2 push, ... (in small steps, once they show) whose eps is proved, or `last`, which always holds.
  function prove(holds, y, push, at, last) {
    for (; Math.abs(push) < 80; push *= Math.abs(push) < 1e-6 ? 2 : 1.3) {
      const eps = at(y + push);
      if (holds(eps)) return eps;
    }
    return last;
  }

  // A population as the accountant sees it: the victim's masses, and the others' clones. Mechanisms by their names:
  // "rr" and "aligned" (clones with probability 2/(1 + e^eps_j)), "common" (any one eps0-LDP randomizer: e^{-eps0},
  // Feldman et al. 2021), "krr" (blankets, each of them a clone with probability 2/k). The user with the largest eps is
  // the worst; budgets are [{eps, count}], each eps once, increasing.
  function problemOf(budgets, mechanism, k = 2) {
    const items = mechanism === "krr" ? k : 2, blankets = items > 2, { eps } = budgets[budgets.length - 1];
    const groups = budgets.map((group, i) => {
      const small = Math.exp(-group.eps), count = group.count - (i === budgets.length - 1 ? 1 : 0);
      if (mechanism === "common") return { q: small, rest: -Math.expm1(-group.eps), count };
      const scale = 1 + (items - 1) * small;
      return { q: items * small / scale, rest: -Math.expm1(-group.eps) / scale, count };
    });
    const low = Math.exp(-eps) / (1 + (items - 1) * Math.exp(-eps)), hidden = (items - 2) * low;
    const victim = { eps, low, seen: blankets ? low * (1 + Math.exp(eps)) : 1, hidden };
    const coin = blankets ? 2 / items : null;
    const mean = groups.reduce((total, { q, count }) => total + q * count, 0) * (coin ?? 1);
    return { eps, victim, groups, mean, coin };
  }

  const lawOf = ({ groups, coin }, options) => (coin === null ? gspa.cloneLaw(groups, options) : gspa.blanketLaw(groups, coin, options));

  // {lower, value, upper} of the least eps at which the worst user is (eps, delta)-DP: upper satisfies (upper bound
  // on delta there) <= delta, and lower (lower bound on delta there) >= delta.
  function epsilonOf(problem, delta) {
    const { eps: top, victim } = problem, zero = { lower: 0, value: 0, upper: 0 };
    if (top === 0) return zero;
    const law = lawOf(problem, { depth: 25 - Math.log(delta), slope: slopeAt(victim, gaussianGuess(victim, problem.mean, delta)) });
    const least = delta * (1 + SLACK), most = delta * (1 - SLACK);
    const search = law.blankets || law.mass.length <= FULL ? law : gspa.sampleLaw(law, COARSE), atZero = estimate(search, victim, 0);
    let low0 = 1;
    if (atZero < 1.1 * delta) { // else the sums below find a positive eps anyway
      const there = divergence(law, victim, 0);
      low0 = there.lower;
      if (there.upper <= most) return zero;
    }
    const at = (y) => top / (1 + Math.exp(-y));
    let y = -36, slope = 0;
    if (atZero > delta) {
      const guess = gaussianGuess(victim, problem.mean, delta) / top;
      ({ x: y, slope } = findRoot((z) => Math.log(estimate(search, victim, at(z)) / delta), Math.log(guess / (1 - guess))));
    }
    const found = divergence(law, victim, at(y));
    let pushes = [1e-9, 1e-9];
    if (found.value > 0 && slope < 0) {
      // One Newton step from the coarse root; then steps outwards that should just suffice.
      const residual = Math.log(found.value / delta), spare = 0.02 * Math.abs(residual) + 4 * SLACK;
      y -= residual / slope;
      pushes = [found.upper / found.value, found.value / Math.max(found.lower, 1e-300)].map(
        (wide) => Math.min(Math.max(1.01 * (Math.log(wide) + spare) / -slope, 0) + 1e-12, 1),
      );
    }
    const upper = prove((eps) => upperEnd(law, victim, eps) <= most, y, pushes[0], at, top);
    const lower = low0 >= least ? prove((eps) => divergence(law, victim, eps).lower >= least, y, -pushes[1], at, 0) : 0;
    return { lower, value: Math.min(Math.max(at(y), lower), upper), upper };
  }

  // {lower, value, upper} of delta(eps); `entries`: about how many pairs of blocks a law of blankets has.
  function deltaOf(problem, eps, entries) {
    const { victim } = problem;
    if (eps >= victim.eps) return { lower: 0, value: 0, upper: 0 };
    for (let depth = 60; ; depth *= 2) {
      const law = lawOf(problem, { depth, slope: slopeAt(victim, eps), entries });
      const found = divergence(law, victim, eps);
      // A delta so small that the mass left out shows: leave out less.
      if (depth > 700 || found.value > 1e6 * Math.exp(-depth)) return found;
    }
  }

  Object.assign(gspa, { problemOf, epsilonOf, deltaOf, gaussianGuess, findRoot, prove });
});
