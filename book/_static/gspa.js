// What style alone cannot do: boxes that scroll sideways take part in the keyboard's order, print is light, figures
// have knobs, and the search of a site opened as files shows no excerpts.
(() => {
  const boxes = "div.math, span.math, mjx-container[display='true'], .gspa-scroll, .gspa-card blockquote, .gspa-claims p, .cell_output .output";
  // All are measured before one is changed, else each would have the page laid out again; so would what is folded.
  const folds = "details:not([open]) > :not(summary)";
  const reach = () => {
    // The box of nearly every formula in a line is 2 pixels too narrow for it, where nothing is to be seen.
    const measured = [...document.querySelectorAll(boxes)].map((box) => [box, !box.closest(folds) &&
      box.scrollWidth > box.clientWidth + (box.matches("span.math") ? 4 : 1) &&
      getComputedStyle(box).overflowX !== "visible"]);
    for (const [box, hidden] of measured) {
      if (hidden && !box.hasAttribute("tabindex")) {
        box.tabIndex = 0;
        box.dataset.gspaReached = "";
      } else if (!hidden && "gspaReached" in box.dataset) {
        box.removeAttribute("tabindex");
        delete box.dataset.gspaReached;
      }
    }
  };
  let waiting;
  window.addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(reach, 200);
  });
  document.addEventListener("toggle", reach, true); // what was folded had no width
  // Formulas have their widths once MathJax is done; pages without it are ready when they are loaded.
  window.addEventListener("load", () => (window.MathJax?.startup?.promise ?? Promise.resolve()).then(reach));

  // The dark theme's text is light, and paper is white; nobody unfolds a card on paper.
  let theme;
  let folded = [];
  window.addEventListener("beforeprint", () => {
    folded = folded.concat([...document.querySelectorAll(".gspa-card details:not([open])")]);
    for (const one of folded) one.open = true;
    theme ??= document.documentElement.dataset.theme; // printing to a file may announce itself twice
    document.documentElement.dataset.theme = "light";
  });
  window.addEventListener("afterprint", () => {
    for (const one of folded.splice(0)) one.open = false;
    if (theme) document.documentElement.dataset.theme = theme;
    theme = undefined;
  });

  // A figure with knobs: its frames are files, drawn by the notebook like the one that is there without this script.
  // And what a pointer, or an arrow key, reads off its lines.
  const made = (tag, parts, ...inside) => {
    const one = Object.assign(document.createElement(tag), parts);
    one.append(...inside);
    return one;
  };
  const written = (value) => {
    const power = value && Math.floor(Math.log10(Math.abs(value)));
    if (power > -5 && power < 6) return Number(value.toPrecision(4)).toLocaleString("en", { maximumFractionDigits: 12 });
    const [digits, exponent] = value.toExponential(3).split("e").map(Number);
    return `${digits === 1 ? "" : `${digits} × `}10<sup>${exponent}</sup>`.replaceAll("-", "−");
  };

  function knobbed(figure, picture, knobs, turn) {
    const at = knobs.map((knob) => knob.at);
    const box = made("div", { className: "gspa-knobs" });
    for (const [i, knob] of knobs.entries()) {
      const value = made("output", { innerHTML: knob.values[at[i]] });
      const input = made("input", { type: "range", min: 0, max: knob.values.length - 1, step: 1, value: at[i] });
      const name = () => input.setAttribute("aria-valuetext", value.textContent);
      input.addEventListener("input", () => {
        at[i] = Number(input.value);
        value.innerHTML = knob.values[at[i]];
        name();
        turn(at.reduce((sum, place, k) => sum * knobs[k].values.length + place, 0));
      });
      name();
      box.append(made("label", {}, `${knob.name} `, input, " ", value));
    }
    figure.prepend(box);
    return { box, start: at.reduce((sum, place, k) => sum * knobs[k].values.length + place, 0) };
  }

  // `reads` says where the panels are; `said` speaks to those who do not see the box.
  function readable(picture, reads, said) {
    const cursor = made("div", { className: "gspa-cursor", hidden: true });
    const box = made("div", { className: "gspa-reading", hidden: true });
    picture.after(cursor, box);
    const along = (panel, x) => {
      const [low, high] = panel.log ? panel.ends.map(Math.log) : panel.ends;
      return ((panel.log ? Math.log(x) : x) - low) / (high - low);
    };
    const hide = () => { cursor.hidden = box.hidden = true; };
    const show = (panel, x) => {
      const t = along(panel, x);
      const rows = panel.lines.map((line) => {
        const [y] = line.points.filter(([each]) => Math.abs(along(panel, each) - t) < 1e-6).map((point) => point[1]);
        return y === undefined ? [] : [made("div", {}, made("i", { style: `background:${line.colour}` }), `${line.name}: `,
          made("b", { innerHTML: written(y) }))];
      }).flat();
      box.replaceChildren(made("div", {}, `${panel.x}: `, made("b", { innerHTML: written(x) })), ...rows);
      const left = picture.offsetLeft + picture.clientWidth * (panel.left + t * (panel.right - panel.left));
      cursor.style.cssText = `left:${left}px; top:${picture.offsetTop + picture.clientHeight * panel.top}px; ` +
        `height:${picture.clientHeight * (panel.bottom - panel.top)}px`;
      const after = left < picture.clientWidth / 2;
      box.style.cssText = `top:${picture.offsetTop + 4}px; left:${left + (after ? 10 : -10)}px; ` +
        (after ? "" : "transform:translateX(-100%)");
      cursor.hidden = box.hidden = false;
    };
    const places = (panel) => [...new Set(panel.lines.flatMap((line) => line.points.map(([x]) => x)))]
      .filter((x) => along(panel, x) >= -1e-9 && along(panel, x) <= 1 + 1e-9).sort((a, b) => a - b);
    picture.addEventListener("pointermove", (event) => {
      const shape = picture.getBoundingClientRect();
      const [x, y] = [(event.clientX - shape.left) / shape.width, (event.clientY - shape.top) / shape.height];
      const panel = reads().find((each) => x >= each.left && x <= each.right && y >= each.top && y <= each.bottom);
      if (!panel) return hide();
      const t = (x - panel.left) / (panel.right - panel.left);
      const off = (each) => Math.abs(along(panel, each) - t);
      const nearest = places(panel).reduce((best, each) => (off(each) < off(best) ? each : best), Infinity);
      if (Number.isFinite(nearest)) show(panel, nearest);
    });
    picture.addEventListener("pointerleave", hide);
    picture.addEventListener("blur", hide);
    picture.tabIndex = 0;
    let step = -1;
    picture.addEventListener("keydown", (event) => {
      if (event.key === "Escape") return hide();
      if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
      const stops = reads().flatMap((panel) => places(panel).map((x) => [panel, x]));
      if (!stops.length) return;
      event.preventDefault();
      step = Math.min(Math.max(step + (event.key === "ArrowRight" ? 1 : -1), 0), stops.length - 1);
      show(...stops[step]);
      said.textContent = [...box.children].map((row) => row.textContent).join("; ");
    });
    return hide;
  }

  document.addEventListener("DOMContentLoaded", () => {
    for (const told of document.querySelectorAll("script.gspa-moves")) {
      const { knobs, frames } = JSON.parse(told.textContent);
      const figure = told.closest("figure");
      const picture = figure.querySelector("img");
      const said = made("p", { className: "gspa-unseen", ariaLive: "polite" });
      figure.append(said);
      let [shown] = frames;
      const hide = frames.some((frame) => frame.reads.length) ? readable(picture, () => shown.reads, said) : () => {};
      if (!knobs.length) continue;
      const { box, start } = knobbed(figure, picture, knobs, (i) => {
        shown = frames[i];
        hide();
        picture.src = shown.src;
        said.textContent = picture.alt = shown.alt;
      });
      shown = frames[start];
      const fetched = () => frames.forEach((frame) => { new Image().src = frame.src; });
      box.addEventListener("pointerenter", fetched, { once: true });
      box.addEventListener("focusin", fetched, { once: true });
    }
  });

  // The search fetches each page that it found for an excerpt, which a browser refuses to a page opened as a file.
  if (location.protocol === "file:" && typeof DOCUMENTATION_OPTIONS !== "undefined")
    DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
})();
