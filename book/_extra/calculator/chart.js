// The curve delta(eps) as an inline SVG: drawn at the width it is shown at, so that its letters keep their size.
"use strict";
self.gspaChart = (function () {
  const SPACE = "http://www.w3.org/2000/svg";
  const EDGE = { left: 62, right: 14, top: 14, bottom: 44 };

  function element(parent, name, attributes, text) {
    const made = document.createElementNS(SPACE, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    parent.append(made);
    return made;
  }

  // Steps of 1, 2 or 5 times a power of ten, about `wanted` of them from 0 to `most`.
  function ticks(most, wanted) {
    const rough = most / wanted, base = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((f) => f * base).find((s) => s >= rough);
    const found = [];
    for (let i = 0; i * step <= most * (1 + 1e-12); i++) found.push(i * step);
    return found;
  }

  const plain = (value) => String(Number(value.toPrecision(6)));
  const power = (value) => `1e${Math.round(Math.log10(value))}`;

  // Draws {eps, pair, gaussian} with the asked delta and both eps at it into `svg`.
  function draw(svg, curve, { delta, exact, paper, width, words }) {
    const height = Math.round(Math.min(380, Math.max(260, 0.6 * width)));
    const floor = 10 ** Math.floor(Math.log10(delta / 100)), most = curve.eps[curve.eps.length - 1];
    const top = 10 ** Math.ceil(Math.log10(Math.max(curve.pair[0], curve.gaussian[0] ?? 0, delta)) - 1e-9);
    const x = (eps) => EDGE.left + (width - EDGE.left - EDGE.right) * eps / most;
    const y = (value) => {
      const share = Math.log(Math.max(value, floor) / floor) / Math.log(top / floor);
      return height - EDGE.bottom - (height - EDGE.top - EDGE.bottom) * Math.min(share, 1);
    };
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("width", width);
    svg.setAttribute("height", height);
    svg.setAttribute("aria-label", words);
    for (const at of ticks(most, width < 500 ? 4 : 7)) {
      element(svg, "line", { x1: x(at), x2: x(at), y1: EDGE.top, y2: height - EDGE.bottom, class: "calc-grid" });
      element(svg, "text", { x: x(at), y: height - EDGE.bottom + 17, "text-anchor": "middle" }, plain(at));
    }
    const decades = Math.round(Math.log10(top / floor)), every = Math.ceil(decades / 7);
    for (let k = 0; k <= decades; k += every) {
      const value = top / 10 ** k;
      element(svg, "line", { x1: EDGE.left, x2: width - EDGE.right, y1: y(value), y2: y(value), class: "calc-grid" });
      element(svg, "text", { x: EDGE.left - 8, y: y(value) + 4, "text-anchor": "end" }, power(value));
    }
    element(svg, "text", { x: (EDGE.left + width - EDGE.right) / 2, y: height - 8, "text-anchor": "middle" }, "central eps");
    const middle = (EDGE.top + height - EDGE.bottom) / 2;
    element(svg, "text", { x: 14, y: middle, "text-anchor": "middle", transform: `rotate(-90 14 ${middle})` }, "delta");
    element(svg, "line", { x1: EDGE.left, x2: width - EDGE.right, y1: y(delta), y2: y(delta), class: "calc-asked" });
    for (const [values, kind] of [[curve.gaussian, "calc-paper"], [curve.pair, "calc-pair"]]) {
      if (values.length === 0) continue;
      const points = [], add = (eps, value) => points.push(`${x(eps).toFixed(1)},${y(value).toFixed(1)}`);
      for (let i = 0; i < values.length; i++) {
        if (values[i] < floor) { // to where it leaves the picture
          const drop = i > 0 ? Math.log(values[i - 1] / floor) / Math.log(values[i - 1] / values[i]) : 0;
          add(curve.eps[Math.max(i - 1, 0)] + drop * (curve.eps[1] - curve.eps[0]), floor);
          break;
        }
        add(curve.eps[i], values[i]);
      }
      element(svg, "polyline", { points: points.join(" "), class: `calc-line ${kind}` });
    }
    for (const [eps, kind] of [[paper, "calc-paper"], [exact, "calc-pair"]]) {
      if (eps <= most) element(svg, "circle", { cx: x(eps), cy: y(delta), r: 4.5, class: `calc-dot ${kind}` });
    }
  }

  return { draw };
})();
