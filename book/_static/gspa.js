// What style alone cannot do: boxes that scroll sideways take part in the keyboard's order, print is light, figures
// have knobs, and the search of a site opened as files shows no excerpts.
(() => {
  const boxes = "div.math, mjx-container[display='true'], .gspa-figure, .gspa-scroll, .gspa-card blockquote, .gspa-claims p, .cell_output .output";
  const reach = () => {
    for (const box of document.querySelectorAll(boxes)) {
      const hidden = box.scrollWidth > box.clientWidth + 1 && getComputedStyle(box).overflowX !== "visible";
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
  const made = (tag, parts, ...inside) => {
    const one = Object.assign(document.createElement(tag), parts);
    one.append(...inside);
    return one;
  };
  document.addEventListener("DOMContentLoaded", () => {
    for (const told of document.querySelectorAll("script.gspa-moves")) {
      const { knobs, frames } = JSON.parse(told.textContent);
      const figure = told.closest("figure");
      const picture = figure.querySelector("img");
      const said = made("p", { className: "gspa-unseen", ariaLive: "polite" });
      const at = knobs.map((knob) => knob.at);
      const turn = () => {
        const frame = frames[at.reduce((sum, place, i) => sum * knobs[i].values.length + place, 0)];
        picture.src = frame.src;
        said.textContent = picture.alt = frame.alt;
      };
      const box = made("div", { className: "gspa-knobs" });
      for (const [i, knob] of knobs.entries()) {
        const value = made("output", { innerHTML: knob.values[at[i]] });
        const input = made("input", { type: "range", min: 0, max: knob.values.length - 1, step: 1, value: at[i] });
        const name = () => input.setAttribute("aria-valuetext", value.textContent);
        input.addEventListener("input", () => {
          at[i] = Number(input.value);
          value.innerHTML = knob.values[at[i]];
          name();
          turn();
        });
        name();
        box.append(made("label", {}, `${knob.name} `, input, " ", value));
      }
      const fetched = () => frames.forEach((frame) => { new Image().src = frame.src; });
      box.addEventListener("pointerenter", fetched, { once: true });
      box.addEventListener("focusin", fetched, { once: true });
      figure.prepend(box);
      figure.append(said);
    }
  });

  // The search fetches each page that it found for an excerpt, which a browser refuses to a page opened as a file.
  if (location.protocol === "file:" && typeof DOCUMENTATION_OPTIONS !== "undefined")
    DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
})();
