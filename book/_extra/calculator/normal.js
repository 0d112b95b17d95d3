// The normal law: its tail, delta(eps) of a mu-GDP mechanism and its inverse (gspa/accountant/tradeoff.py), the paper's mu.
"use strict";
(self.gspaParts = self.gspaParts || []).push(function (gspa) {
  const { exp, log, max } = Math;
  const LOG_SQRT_2PI = 0.5 * log(2 * Math.PI);
  // -R'(x) = x^-2 (1 - 3 x^-2 + 15 x^-4 - ...)
  const ASYMPTOTIC = [1, -3, 15, -105, 945, -10395, 135135, -2027025];

  // Nodes and weights of Gauss and Legendre on [0, 1].
  const LEGENDRE = Array.from({ length: 24 }, (_, i, { length: size } = { length: 24 }) => {
    let x = Math.cos(Math.PI * (i + 0.75) / (size + 0.5)), slope = 1;
    for (let step = 0; step < 20; step++) {
      let before = 1, now = x;
      for (let k = 2; k <= size; k++) [before, now] = [now, ((2 * k - 1) * x * now - (k - 1) * before) / k];
      slope = size * (x * now - before) / (x * x - 1);
      x -= now / slope;
    }
    return { at: (1 - x) / 2, weight: 1 / ((1 - x * x) * slope * slope) };
  });

  // The integral of f over [from, from + width].
  const integral = (f, from, width) => width * LEGENDRE.reduce((sum, { at, weight }) => sum + weight * f(from + width * at), 0);

  const logDensity = (x) => -0.5 * x * x - LOG_SQRT_2PI;

  // R(x) = Phi(-x)/phi(x): by the series of Phi - 1/2, or the continued fraction.
  function mills(x) {
    if (x < -2) return exp(-logDensity(x)) - mills(-x);
    if (x < 2) {
      let term = x, total = x;
      for (let k = 1; Math.abs(term) > 1e-17 * Math.abs(total); k++) {
        term *= x * x / (2 * k + 1);
        total += term;
      }
      return 0.5 * exp(-logDensity(x)) - total;
    }
    let fraction = x;
    for (let k = 80; k > 0; k--) fraction = x + k / fraction;
    return 1 / fraction;
  }

  // P(N > x), and the x where it is that.
  const beyond = (x) => (x < 0 ? 1 - beyond(-x) : exp(logDensity(x)) * mills(x));
  function quantile(tail) {
    let low = -40, high = 40;
    for (let i = 0; i < 60; i++) {
      const middle = (low + high) / 2;
      if (beyond(middle) > tail) low = middle;
      else high = middle;
    }
    return high;
  }

  function minusMillsSlope(x) {
    if (x < 20) return 1 - x * mills(x);
    return ASYMPTOTIC.reduceRight((total, c) => total / (x * x) + c, 0) / (x * x);
  }

  // log delta at eps = mu (a + mu/2): delta = phi(a) (R(a) - R(a + mu)), which never forms an overflowing e^eps; what
  // cancels is left to an integral of -R'.
  function logDeltaAt(a, mu) {
    if (a < -30) return 0;
    return logDensity(a) + log(mu > max(1, a) ? mills(a) - mills(a + mu) : integral(minusMillsSlope, a, mu));
  }

  // delta(eps) of a mu-GDP mechanism.
  const gdpDelta = (eps, mu) => (mu === 0 ? 0 : exp(logDeltaAt(eps / mu - mu / 2, mu)));

  // The least eps at which a mu-GDP mechanism is (eps, delta)-DP; 0 if it needs none.
  function gdpEpsilon(delta, mu) {
    const target = log(delta);
    if (mu === 0 || logDeltaAt(-mu / 2, mu) <= target) return 0;
    // log delta falls with a and is concave, and Phi(-a) is larger: from where that is delta, Newton's method stays right.
    let a = max(quantile(delta), -mu / 2);
    for (let i = 0; i < 100; i++) {
      const value = logDeltaAt(a, mu), step = (target - value) * exp(value - logDensity(a)) / (mu * mills(a + mu));
      a -= step;
      if (step <= 1e-14 * max(Math.abs(a), mu)) break;
    }
    return max(mu * (a + mu / 2), 0);
  }

  // mu of Theorem 2, Chen et al. 2024, as its abstract has it: sqrt(2/(sum_i r_i - max_i r_i)), r_i = 1/(1 + e^eps_i).
  // Infinite where nobody is left to hide among. The largest r_i is that of the smallest eps.
  const paperMu = (people) => Math.sqrt(2 / people.reduce((sum, { eps, count }, i) => sum + (count - (i === 0 ? 1 : 0)) / (1 + exp(eps)), 0));

  Object.assign(gspa, { integral, mills, beyond, quantile, gdpDelta, gdpEpsilon, paperMu });
});
