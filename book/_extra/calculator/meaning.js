// What an eps means: the rates that no attacker can beat, from a certified curve delta(eps).
"use strict";
(self.gspaParts = self.gspaParts || []).push(function (gspa) {
  const ROUNDING = 4e-15; // of the few operations on e^eps, FPR and delta
  const TRIES = 10, MOST_EPS = 600, GOLDEN = (Math.sqrt(5) - 1) / 2;

  // {advantage, tpr}: upper ends of TPR - FPR, and of the TPR at each false-positive rate. (eps, delta)-DP in both orders
  // is the same as TPR <= e^eps FPR + delta and TPR <= 1 - e^-eps (1 - FPR - delta) for every attacker (Kairouz, Oh and
  // Viswanath 2015): every eps gives a bound, and the least that is found counts. `deltaAt` gives upper ends; from
  // `top` on they are constant. A generator: each call of next() is one piece of work.
  function* rates(deltaAt, alphas, top) {
    const known = new Map(), at = (eps) => {
      if (!known.has(eps)) known.set(eps, Math.min(deltaAt(eps), 1));
      return known.get(eps);
    };
    const advantage = at(0), last = Math.min(top, MOST_EPS), tpr = [];
    yield {};
    for (const alpha of alphas) {
      const bound = (slope) => { // slope < 0: the second form
        const delta = at(Math.abs(slope));
        if (slope >= 0) return (Math.exp(slope) * alpha + delta) * (1 + ROUNDING);
        return 1 - Math.exp(slope) * (1 - alpha - delta) + ROUNDING;
      };
      let best = Math.min(1, bound(0), bound(last), bound(-last));
      if (advantage > 0) {
        // Where a Gaussian with this delta(0) would have its best point, and around it.
        const mu = advantage < 1 ? 2 * gspa.quantile((1 - advantage) / 2) : last, guess = mu * gspa.quantile(alpha) - mu * mu / 2;
        const inside = (x) => Math.min(Math.max(x, -last), last);
        let low = inside(guess - 3 * mu), high = inside(guess + 3 * mu), a = high - GOLDEN * (high - low), b = low + GOLDEN * (high - low);
        best = Math.min(best, bound(inside(guess)));
        for (let i = 0; i < TRIES; i++) {
          if (bound(a) < bound(b)) [high, b, a] = [b, a, b - GOLDEN * (b - low)];
          else [low, a, b] = [a, b, a + GOLDEN * (high - a)];
          yield {};
        }
        best = Math.min(best, bound(a), bound(b));
      }
      tpr.push(Math.max(alpha, best));
    }
    return { advantage, tpr };
  }

  Object.assign(gspa, { rates });
});
