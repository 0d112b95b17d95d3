// One round's privacy loss on a grid, from above and from below: gspa/accountant/losses.py.
//
// Given m = C + 1 reports, i of the first outcome, b the Bin(m, 1/2) mass and s = (2i - m)/m,
//   P0 = b (1 + T s),  P1 = b (1 - T s),  loss = 2 artanh(T s),  T = tanh(eps_n/2).
// With Y = e^-loss under P0 a composition's delta is E[max(1 - e^eps prod Y, 0)]: convex and falling in each Y. So
// spreading a mass to its neighbours on the grid with its mean of Y kept does not lower delta, and merging masses into
// one point that is their mean of Y does not raise it.
"use strict";
(self.gspaParts = self.gspaParts || []).push(function (gspa) {
  const BLOCK = 1e-4; // counts that differ by this, relatively, are treated as one
  const ATOMS = 1e6; // about as many outcomes are looked at
  const FAR = 700; // e^FAR is finite
  const ON_GRID = 1e-10; // a loss this near a grid point, in steps, is on it
  const FINE = 4; // cells of the first merging in one step of the grid

  // Counts that stand for blocks of counts (above: their first, below: their last, since clones only help).
  function groupsOf(problem, depth, above) {
    const law = gspa.cloneLaw(problem.groups, { depth }), { edges, mass, error } = law, size = mass.length;
    const first = edges[0], last = edges[size] - 1, width = edges[1] - edges[0];
    const reach = Math.sqrt(2 * depth * ((first + last) / 2 + 1));
    const block = Math.max(BLOCK * first, (last - first) * reach / ATOMS), step = Math.max(1, Math.floor(block / width));
    const clones = [], heaps = [];
    for (let start = 0; start < size; start += step) {
      const end = Math.min(start + step, size);
      let heap = 0;
      for (let j = start; j < end; j++) heap += above ? mass[j] + error[j] : Math.max(mass[j] - error[j], 0);
      clones.push(above ? edges[start] : edges[end] - 1);
      heaps.push(heap);
    }
    if (!above) return { clones, heaps, missing: 0 };
    return { clones: [...clones, law.far, edges[size]], heaps: [...heaps, law.below, law.above], missing: law.farMass };
  }

  // Outcomes of a pair that dominates the problem's (above), or is dominated by it: {loss, mass, missing}, losses in
  // both signs; `missing` bounds the P0-mass of all others.
  function atoms(problem, depth, above) {
    const groups = groupsOf(problem, depth, above), truth = Math.tanh(problem.eps / 2);
    const lie = 2 * Math.exp(-problem.eps) / (1 + Math.exp(-problem.eps)); // 1 - truth
    let size = 0, cut = false;
    const lowest = groups.clones.map((c, g) => {
      const from = Math.max(Math.ceil((c + 1) / 2 - Math.sqrt(depth * (c + 1) / 2)), 0);
      if (groups.heaps[g] > 0) size += Math.floor((c + 1) / 2) - from + 1;
      cut = cut || from > 0;
      return from;
    });
    const loss = new Float64Array(2 * size + 1), mass = new Float64Array(2 * size + 1);
    let at = 0, sum = 0;
    groups.clones.forEach((c, g) => {
      const m = c + 1, heap = groups.heaps[g];
      if (!(heap > 0)) return;
      for (let i = lowest[g]; i <= Math.floor(m / 2); i++) {
        const b = gspa.fairMass(i, m) * heap * (2 * i === m ? 0.5 : 1); // the middle is its own mirror image
        const shift = truth * (m - 2 * i) / m, rest = lie + truth * 2 * i / m; // rest = 1 - shift
        const size2 = shift < 0.5 ? 2 * Math.atanh(shift) : Math.log1p(shift) - Math.log(rest);
        sum += b;
        loss[at] = size2;
        mass[at++] = b * (1 + shift);
        loss[at] = -size2;
        mass[at++] = b * rest;
      }
    });
    const missing = above ? groups.missing + (cut ? 2 * Math.exp(-depth) : 0) : 0;
    mass[at] = Math.max(0, 1 - 2 * sum - missing); // the rest says nothing, or is made to
    return { loss, mass, missing };
  }

  function variance({ loss, mass }) {
    let mean = 0, total = 0;
    for (let i = 0; i < loss.length; i++) mean += mass[i] * loss[i];
    for (let i = 0; i < loss.length; i++) total += mass[i] * (loss[i] - mean) ** 2;
    return total;
  }

  // First and last cell of the grid that hold mass.
  function range({ loss, mass }, width) {
    let low = Infinity, high = -Infinity;
    for (let i = 0; i < loss.length; i++) {
      if (!(mass[i] > 0)) continue;
      const cell = Math.floor(loss[i] / width);
      if (cell < low) low = cell;
      if (cell > high) high = cell;
    }
    return { low, size: high - low + 1 };
  }

  // {step, first, mass}: each mass to its two neighbours on the grid.
  function spread(found, step) {
    const { low, size } = range(found, step), mass = new Float64Array(size + 1);
    for (let i = 0; i < found.loss.length; i++) {
      if (!(found.mass[i] > 0)) continue;
      const cell = Math.floor(found.loss[i] / step), over = Math.min(Math.max(found.loss[i] - cell * step, 0), step);
      const up = found.mass[i] * Math.expm1(-over) / Math.expm1(-step);
      mass[cell - low] += found.mass[i] - up;
      mass[cell - low + 1] += up;
    }
    return { step, first: low, mass };
  }

  // {step, first, mass}: masses joined, from the largest loss down, into heaps whose mean of e^-loss is on the grid.
  function merge(found, step) {
    const width = step / FINE, { low, size } = range(found, width);
    const fine = new Float64Array(size), below = new Float64Array(size);
    for (let i = 0; i < found.loss.length; i++) {
      if (!(found.mass[i] > 0)) continue;
      const cell = Math.floor(found.loss[i] / width), over = Math.min(Math.max(found.loss[i] - cell * width, 0), width);
      fine[cell - low] += found.mass[i];
      below[cell - low] += found.mass[i] * Math.expm1(-over);
    }
    const first = Math.floor(low / FINE) - 1, mass = new Float64Array(Math.ceil(size / FINE) + 3);
    let point = 0, heap = 0, short = 0, fresh = true; // short = sum of mass (1 - e^-(loss - point))
    for (let j = size - 1; j >= 0; j--) {
      let rest = fine[j];
      if (!(rest > 0)) continue;
      const at = (low + j) * width - Math.log1p(below[j] / rest);
      while (rest > 0) {
        if (fresh) [point, heap, short] = [Math.floor(at / step + ON_GRID), 0, 0];
        const apart = point * step - at;
        let gap = apart < FAR ? -Math.expm1(apart) : -Infinity; // so far away nothing of it is needed
        if (fresh) [gap, fresh] = [Math.max(gap, 0), false];
        if (gap >= 0 || short >= -gap * rest) {
          heap += rest;
          short += gap * rest;
          rest = 0;
        } else {
          const taken = short / -gap;
          mass[point - first] += heap + taken;
          rest -= taken;
          fresh = true;
        }
      }
    }
    if (!fresh) mass[point - first] += heap;
    return { step, first, mass };
  }

  Object.assign(gspa, { atoms, variance, spread, merge });
});
