// Draws plots with Vega, which is loaded when the first one comes into view, and saves them as images. Part of aiq.
"use strict";

const plots = (() => {
  const LIBRARIES = ["vega", "vega-lite", "vega-embed"];
  let libraries = null;
  // `ast`: expressions are interpreted, because the page's policy forbids eval; styles are in the site's own sheet.
  const options = (width) => ({
    mode: "vega-lite", ast: true, actions: false, renderer: "svg", defaultStyle: false,
    tooltip: { disableDefaultStyle: true }, config: { axisY: { labelLimit: 0.55 * width } },
  });

  const ready = () => libraries ??= LIBRARIES.reduce(
    (loaded, library) => loaded.then(() => site.load(`${site.root}site/${library}.min.js`)), Promise.resolve());

  async function save(figure, spec, type) {
    const style = getComputedStyle(document.documentElement);
    const coloured = JSON.stringify(spec).replace(/"var\((--[a-z]+)\)"/g, (_, name) => `"${style.getPropertyValue(name).trim()}"`);
    const container = figure.querySelector(".plot");
    const title = figure.querySelector("figcaption").textContent;
    const image = { ...JSON.parse(coloured), title, width: container.clientWidth, padding: 16 };
    const { view } = await vegaEmbed(document.createElement("div"), image, options(container.clientWidth));
    const link = document.createElement("a");
    link.download = `${figure.id}.${type}`;
    link.href = await view.toImageURL(type, type === "png" ? 2 : 1);
    link.click();
    view.finalize();
  }

  async function draw(figure, spec) {
    const container = figure.querySelector(".plot");
    try {
      await ready();
      const { view } = await vegaEmbed(container, spec, options(container.clientWidth));
      // The figure has a description and a table: marks read out one by one help nobody.
      view.container().querySelector("svg").setAttribute("aria-hidden", "true");
      for (const button of figure.querySelectorAll("button")) {
        button.hidden = false;
        button.addEventListener("click", () => save(figure, spec, button.value));
      }
    } catch (error) {
      container.textContent = `The plot could not be drawn (${error.message}); its data is below.`;
    }
  }

  /** Draw it when it is seen or printed. What is printed cannot wait for a script, so the library comes when there is time. */
  function whenSeen(figure, spec) {
    site.whenSeen(figure, () => draw(figure, spec));
    requestIdleCallback(ready);
  }

  /** A figure from a record in the form of `Plot.record` in aiq/site/plots.py. */
  function figure({ name, title, hint, told: description, spec, columns, values }) {
    const { h } = site;
    const element = h("figure", { id: name }, h("figcaption", {}, title), hint ? h("p", { class: "soft" }, hint) : null,
      h("div", { class: "plot", role: "img", "aria-label": description }),
      h("div", { class: "tools" },
        h("details", {}, h("summary", {}, "data of this plot"),
          site.plain(Object.values(columns), values.map((row) => Object.keys(columns).map((field) => row[field] ?? "-")), `data: ${title}`)),
        ["png", "svg"].map((type) => h("button", { type: "button", hidden: true, value: type, "aria-label": `save as ${type.toUpperCase()}: ${title}` }, type.toUpperCase()))));
    element.querySelector(".plot").style.minHeight = `${spec.height}px`;
    whenSeen(element, spec);
    return element;
  }

  for (const { name, spec } of document.querySelector("script[data-plots]")?.records ?? []) whenSeen(document.getElementById(name), spec);
  return { figure };
})();
