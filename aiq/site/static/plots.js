// Draws the plots of a page (AIQ_PLOTS, from data.js) into its figures, and saves them as images. Part of aiq.
"use strict";
(() => {
  // `ast`: expressions are interpreted, because the page's policy forbids eval.
  const options = (width) => ({
    mode: "vega-lite", ast: true, actions: false, renderer: "svg", config: { axisY: { labelLimit: 0.4 * width } },
  });

  async function save(figure, spec, type) {
    const style = getComputedStyle(document.documentElement);
    const coloured = JSON.stringify(spec).replace(/"var\((--[a-z]+)\)"/g, (_, name) => `"${style.getPropertyValue(name).trim()}"`);
    const place = figure.querySelector(".plot");
    const title = figure.querySelector("figcaption").textContent;
    const image = { ...JSON.parse(coloured), title, width: place.clientWidth, padding: 16 };
    const { view } = await vegaEmbed(document.createElement("div"), image, options(place.clientWidth));
    const link = document.createElement("a");
    link.download = `${figure.id}.${type}`;
    link.href = await view.toImageURL(type, type === "png" ? 2 : 1);
    link.click();
    view.finalize();
  }

  for (const figure of document.querySelectorAll("figure[id]")) {
    const spec = AIQ_PLOTS[figure.id];
    const place = figure.querySelector(".plot");
    vegaEmbed(place, spec, options(place.clientWidth)).then(
      ({ view }) => {
        // The figure has a description and a table: marks that are read out one by one help nobody.
        view.container().querySelector("svg").setAttribute("aria-hidden", "true");
        for (const button of figure.querySelectorAll("button")) {
          button.hidden = false;
          button.addEventListener("click", () => save(figure, spec, button.value));
        }
      },
      (error) => { place.textContent = `The plot could not be drawn (${error.message}); its data is below.`; },
    );
  }
})();
