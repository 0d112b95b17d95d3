// The Gaussian side: Mills's ratio, delta(eps) of a mu-GDP mechanism and its inverse (gspa/accountant/tradeoff.py), and the paper's mu.
"use strict";
(self.gspaParts = self.gspaParts || []).push(function (gspa) {
  const LOG_SQRT_2PI = 0.5 * Math.log(2 * Math.PI);
  const { nodes: NODES, weights: WEIGHTS } = gspa.gaussLegendre(24);
  // 1 - x R(x) = x^-2 (1 - 3 x^-2 + 15 x^-4 - ...)
  const ASYMPTOTIC = [1, -3, 15, -105, 945, -10395, 135135, -2027025];

  // Phi(x) - 1/2 for |x| < 2, by its series.
  function centre(x) {
    let term = x, total = x;
    for (let k = 1; Math.abs(term) > 1e-17 * Math.abs(total); k++) {
      term *= x * x / (2 * k + 1);
      total += term;
    }
    return total * Math.exp(-0.5 * x * x - LOG_SQRT_2PI);
  }

  // R(x) = Phi(-x)/phi(x), x >= 0: by the continued fraction, or from the series where that is slow.
  function mills(x) {
    if (x < 2) return (0.5 - centre(x)) * Math.exp(0.5 * x * x + LOG_SQRT_2PI);
    let fraction = x;
    for (let k = 80; k > 0; k--) fraction = x + k / fraction;
    return 1 / fraction;
  }

  // Phi(x)
  function normal(x) {
    if (Math.abs(x) < 2) return 0.5 + centre(x);
    const outside = mills(Math.abs(x)) * Math.exp(-0.5 * x * x - LOG_SQRT_2PI);
    return x < 0 ? outside : 1 - outside;
  }

  const minusMillsSlope = (x) => (x < 20 ? 1 - x * mills(x) : gspa.polynomial(1 / (x * x), ASYMPTOTIC) / (x * x));

  // log delta at eps = mu (a + mu/2): delta = phi(a) (R(a) - R(a + mu)), which never forms an overflowing e^eps; what
  // cancels is left to an integral of -R'.
  function logDeltaAt(a, mu) {
    const logPhi = -0.5 * a * a - LOG_SQRT_2PI;
    if (a <= 0 && mu > 1) return Math.log1p(-(normal(a) + Math.exp(logPhi) * mills(a + mu)));
    if (a <= 0) return Math.log(gapBelow(a, mu)); // mu <= 1
    if (mu > Math.max(1, a)) return logPhi + Math.log(mills(a) - mills(a + mu));
    let total = 0;
    for (let i = 0; i < NODES.length; i++) total += WEIGHTS[i] * minusMillsSlope(a + mu * NODES[i]);
    return logPhi + Math.log(total) + Math.log(mu);
  }

  // The same for -mu/2 <= a <= 0, mu <= 1: Phi(-a) - Phi(-a-mu) - (e^eps - 1) Phi(-a-mu), where little cancels.
  function gapBelow(a, mu) {
    let middle = 0; // the integral of phi over [a, a + mu]
    for (let i = 0; i < NODES.length; i++) middle += WEIGHTS[i] * Math.exp(-0.5 * (a + mu * NODES[i]) ** 2 - LOG_SQRT_2PI);
    return mu * middle - Math.expm1(mu * (a + mu / 2)) * normal(-a - mu);
  }

  // delta(eps) of a mu-GDP mechanism.
  function gdpDelta(eps, mu) {
    return mu === 0 ? 0 : Math.exp(logDeltaAt(eps / mu - mu / 2, mu));
  }

  // The least eps at which a mu-GDP mechanism is (eps, delta)-DP; 0 if it needs none.
  function gdpEpsilon(delta, mu) {
    const target = Math.log(delta);
    if (mu === 0 || logDeltaAt(-mu / 2, mu) <= target) return 0;
    // log delta falls with a and is concave, and Phi(-a) is larger: bisect for Phi(-a) = delta, then Newton's method
    // from there stays right of the root.
    let left = -40, right = 40;
    for (let i = 0; i < 60; i++) {
      const middle = (left + right) / 2, log = middle < 2 ? Math.log(normal(-middle)) : Math.log(mills(middle)) - 0.5 * middle ** 2 - LOG_SQRT_2PI;
      if (log > target) left = middle;
      else right = middle;
    }
    let a = Math.max(right, -mu / 2);
    for (let i = 0; i < 100; i++) {
      const log = logDeltaAt(a, mu), slope = Math.exp(Math.log(mu * mills(a + mu)) - 0.5 * a * a - LOG_SQRT_2PI - log);
      const step = (target - log) / slope;
      a -= step;
      if (step <= 1e-14 * Math.max(Math.abs(a), mu)) break;
    }
    return Math.max(mu * (a + mu / 2), 0);
  }

  // mu of Theorem 2, Chen et al. 2024, as its abstract has it: sqrt(2/(sum_i r_i - max_i r_i)), r_i = 1/(1 + e^eps_i).
  // Infinite where nobody is left to hide among.
  function paperMu(budgets) {
    let total = 0; // the largest r_i is that of the smallest eps
    budgets.forEach(({ eps, count }, i) => {
      total += (count - (i === 0 ? 1 : 0)) * Math.exp(-eps) / (1 + Math.exp(-eps));
    });
    return Math.sqrt(2 / total);
  }

  Object.assign(gspa, { normal, mills, gdpDelta, gdpEpsilon, paperMu });
});
