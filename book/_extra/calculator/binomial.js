// Binomial probabilities to full relative accuracy, and the tail integral of the pair: gspa/accountant/binomial.py in JavaScript.
//
// Each file of this folder but calculator.js and chart.js adds one part, a function of the one namespace `gspa`, that
// refers to nothing outside itself: the page calls the parts, and writes their source into its worker. So the site
// works from a folder, without a server, where a browser loads neither modules nor worker files.
"use strict";
(self.gspaParts = self.gspaParts || []).push(function (gspa) {
  const LOG_2PI = Math.log(2 * Math.PI);
  // Stirling's series for log n! - log(sqrt(2 pi n) (n/e)^n); at n = 16 its next term is 2e-18.
  const STIRLING = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360];
  // (1+v)log(1+v) + (1-v)log(1-v) = sum_k v^2k / (k (2k-1)); at v = 0.15 the next term is 1e-17 of the first.
  const FAIR = Array.from({ length: 9 }, (_, i) => 1 / ((i + 1) * (2 * i + 1)));
  const DEVIANCE = Array.from({ length: 8 }, (_, i) => 1 / (2 * i + 3));
  const LOG_COSH = [1 / 2, -1 / 12, 1 / 45, -17 / 2520, 31 / 14175, -691 / 935550];
  const REACH = 33; // e^-33: where the tail integral is cut
  const SUMMED_TO = 64; // c + 1 below which the tail is summed term by term

  function polynomial(x, coefficients) {
    let total = 0;
    for (let i = coefficients.length - 1; i >= 0; i--) total = total * x + coefficients[i];
    return total;
  }

  // Nodes and weights of Gauss and Legendre on [0, 1].
  function gaussLegendre(size) {
    const nodes = [], weights = [];
    for (let i = 0; i < size; i++) {
      let x = Math.cos(Math.PI * (i + 0.75) / (size + 0.5)), slope = 1;
      for (let step = 0; step < 100; step++) {
        let before = 1, now = x;
        for (let k = 2; k <= size; k++) [before, now] = [now, ((2 * k - 1) * x * now - (k - 1) * before) / k];
        slope = size * (x * now - before) / (x * x - 1);
        const move = now / slope;
        x -= move;
        if (Math.abs(move) < 1e-16) break;
      }
      nodes.push((1 - x) / 2);
      weights.push(1 / ((1 - x * x) * slope * slope));
    }
    return { nodes, weights };
  }
  const { nodes: NODES, weights: WEIGHTS } = gaussLegendre(24);

  const SMALL = [0]; // log n! - log(sqrt(2 pi n) (n/e)^n) for n < 16; n! is exact there
  for (let n = 1, factorial = 1; n < 16; n++) {
    factorial *= n;
    SMALL.push(Math.log(factorial) - (n + 0.5) * Math.log(n) + n - 0.5 * LOG_2PI);
  }

  // log n! - log(sqrt(2 pi n) (n/e)^n) for whole n >= 0 (0 at n = 0).
  function stirlingError(n) {
    return n < 16 ? SMALL[n] : polynomial(1 / (n * n), STIRLING) / n;
  }

  // log Gamma(x), x > 0; absolute error about 1e-16 times the value.
  function logGamma(x) {
    let shift = 0;
    for (; x < 16; x++) shift += Math.log(x);
    return (x - 0.5) * Math.log(x) - x + 0.5 * LOG_2PI + polynomial(1 / (x * x), STIRLING) / x - shift;
  }

  // x log(x/mean) + mean - x without cancellation near x = mean.
  function deviance(x, mean) {
    const v = (x - mean) / (x + mean);
    if (Math.abs(v) < 0.1) return (x - mean) * v + 2 * x * v * v * v * polynomial(v * v, DEVIANCE);
    return x * Math.log(x / mean) + mean - x;
  }

  // P(Bin(n, p) = k), rest = 1 - p to full accuracy: the saddle point (Loader 2000).
  function binomialMass(k, n, p, rest) {
    if (k === 0) return Math.exp(n * (p < 0.5 ? Math.log1p(-p) : Math.log(rest)));
    if (k === n) return Math.exp(n * Math.log(p));
    const log = stirlingError(n) - stirlingError(k) - stirlingError(n - k) - deviance(k, n * p) - deviance(n - k, n * rest);
    return Math.exp(log) * Math.sqrt(n / k / (n - k) / (2 * Math.PI));
  }

  // P(Bin(n, 1/2) = k) for whole 0 <= k <= n/2.
  function fairMass(k, n) {
    if (k === 0) return Math.pow(2, -n);
    const v = (n - 2 * k) / n;
    const exponent = v > 0.15 ? 0.5 * ((1 + v) * Math.log1p(v) + (1 - v) * Math.log1p(-v)) : 0.5 * v * v * polynomial(v * v, FAIR);
    const log = stirlingError(n) - stirlingError(k) - stirlingError(n - k) - n * exponent;
    return Math.exp(log) * Math.sqrt(n / (2 * Math.PI) / k / (n - k));
  }

  function logCosh(y) {
    return y < 0.05 ? y * y * polynomial(y * y, LOG_COSH) : y + Math.log1p(Math.expm1(-2 * y) / 2);
  }

  // J = c1 int_0^inf e^{-d y} tanh(y) sech(y)^c1 dy, whole 1 <= d <= c1 - 2: in (0, 1), a positive integrand.
  function tailIntegral(c1, d) {
    if (c1 < SUMMED_TO) {
      // 1 - (d/l) P(Bin(c, 1/2) < l)/b(l), c = c1 - 1, l = (c1 - d)/2, for few terms
      const left = (c1 - d) / 2;
      let term = 1, total = 0;
      for (let j = 0; j < left; j++) {
        term *= (left - j) / (c1 - left + j);
        total += term;
      }
      return 1 - d * total / left;
    }
    // Beyond `top` the integrand is nothing; log cosh is convex, so Newton's method overshoots once and stays above.
    let top = 2 * REACH / (d + Math.sqrt(d * d + 2 * REACH * c1));
    for (let i = 0; i < 3; i++) top += (REACH - d * top - c1 * logCosh(top)) / (d + c1 * Math.tanh(top));
    let total = 0;
    for (let i = 0; i < NODES.length; i++) {
      const y = top * NODES[i];
      total += WEIGHTS[i] * Math.exp(-d * y - c1 * logCosh(y)) * Math.tanh(y);
    }
    return c1 * total * top;
  }

  Object.assign(gspa, { polynomial, gaussLegendre, logGamma, binomialMass, fairMass, tailIntegral });
});
