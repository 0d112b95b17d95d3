// What a report shows of two inputs, and what hides it: gspa/accountant/families.py as a few numbers for each family.
"use strict";
(self.gspaParts = self.gspaParts || []).push(function (gspa) {
  const { exp, max, min, sqrt } = Math;
  const DOWN = 1 - 64 * 2 ** -52; // coverage, rounded down
  const GROUPS = 64; // of distinct coverage
  const SEEN = 1e-150; // a smaller mass of B hides nobody, and what is divided by it may be no double

  // {base, first, second, c}: B, P0/B, P1/B on classes of outputs, and which share of a report is a draw from B. An input
  // makes some outputs e^eps times as likely as others; `both` of B's mass by either input, `one` by the first alone.
  function likely(eps, both, one) {
    const shrunk = exp(-eps), high = 1 / (shrunk + (both + one) * -Math.expm1(-eps)), low = shrunk * high;
    return { base: [both, one, one, 1 - both - 2 * one], first: [high, high, low, low], second: [high, low, high, low], c: low };
  }

  // k bits, one's own a 1 with probability p, any other with q; only those of the two inputs tell them apart.
  function bits(eps, symmetric) {
    const shrunk = exp(symmetric ? -eps / 2 : -eps), q = shrunk / (1 + shrunk), truth = 1 / (1 + shrunk);
    const [yes, no] = symmetric ? [1 / shrunk, shrunk] : [0.5 / q, 0.5 / truth];
    return { base: [q * q, q * truth, q * truth, truth * truth], first: [yes, yes, no, no], second: [yes, no, yes, no], c: no };
  }

  const subset = (eps, k, size) => likely(eps, size * (size - 1) / (k * (k - 1)), size * (k - size) / (k * (k - 1)));
  const binary = (eps) => likely(eps, 0, 0.5);
  const FAMILIES = {
    rr: binary,
    duchi: binary,
    aligned: binary,
    common: (eps) => ({ ...binary(eps), c: exp(-eps) }),
    krr: (eps, { k }) => subset(eps, k, 1),
    subset: (eps, { k, size }) => subset(eps, k, size),
    unary: (eps, { kind }) => bits(eps, kind === "symmetric"),
    rappor: (eps) => bits(eps, true),
    hashing: (eps, { g }) => likely(eps, 1 / (g * g), (g - 1) / (g * g)),
    hadamard: (eps) => likely(eps, 0.25, 0.25),
    piecewise: (eps) => likely(eps, 0, 1 / (1 + exp(eps / 2))),
  };

  // Users of nearly one coverage as if of their geometric mean: that makes their number of draws stochastically smaller
  // (Pledger and Proschan 1971), and draws only help.
  function grouped(others) {
    const roots = others.map(({ c }) => sqrt(c)), low = roots.reduce((a, b) => min(a, b), 1), high = roots.reduce((a, b) => max(a, b), 0);
    if (others.length <= GROUPS) return others;
    const bins = Array.from({ length: GROUPS }, () => ({ log: 0, count: 0 }));
    others.forEach(({ c, count }, i) => {
      const bin = bins[min(Math.floor((roots[i] - low) / (high - low) * GROUPS), GROUPS - 1)];
      bin.log += count * Math.log(c);
      bin.count += count;
    });
    return bins.filter(({ count }) => count > 0).map(({ log, count }) => ({ c: min(exp(log / count) * (1 - 1e-12), 1), count }));
  }

  // The victim among the others: {top, mu, delta(eps)}; delta gives an upper end, 0 from `top` on, and mu is that of the
  // Gaussian limit.
  function hidden(tables, cover, top) {
    const others = grouped(cover.filter(({ c, count }) => c > 0 && count > 0).map(({ c, count }) => ({ c: c * DOWN, count })));
    const mean = others.reduce((sum, { c, count }) => sum + c * count, 1);
    const square = max(...tables.map(({ base, first, second }) => base.reduce((sum, mass, i) => sum + mass * (first[i] - second[i]) ** 2, 0)));
    return {
      top, mu: sqrt(square / mean),
      delta: (eps) => (eps >= top ? 0 : max(...tables.map((table) => gspa.deltaOf(table, others, eps)))),
    };
  }

  // Of people [{eps, count}], a user of the group `victim`.
  function namedProblem(people, mechanism, own, victim = people.length - 1) {
    const reports = people.map(({ eps }) => FAMILIES[mechanism](eps, own));
    return hidden([reports[victim]], people.map(({ count }, i) => ({ c: reports[i].c, count: count - (i === victim ? 1 : 0) })), people[victim].eps);
  }

  // Of n users of a randomizer that is written down, a row an input: every change of a record.
  function matrixProblem(rows, n) {
    const least = rows[0].map((_, y) => min(...rows.map((row) => row[y]))), c = least.reduce((sum, low) => sum + low, 0);
    const base = least.map((low) => low / c), tables = new Map();
    let top = 0;
    for (const one of rows) for (const other of rows) {
      if (one === other) continue;
      const table = { base: [], first: [], second: [], bare: [] };
      one.forEach((p, y) => {
        if (p > 0) top = max(top, Math.log(p / other[y]) * (1 + 1e-14));
        if (base[y] > SEEN) [p / base[y], other[y] / base[y], base[y]].forEach((value, i) => [table.first, table.second, table.base][i].push(value));
        else if (p > 0 || other[y] > 0) table.bare.push([p, other[y]]);
      });
      tables.set([...table.base.map((mass, i) => [mass, table.first[i], table.second[i]]), ...table.bare].map(String).sort().join(), table);
    }
    return hidden([...tables.values()], [{ c, count: n - 1 }], top);
  }

  Object.assign(gspa, { namedProblem, matrixProblem });
});
