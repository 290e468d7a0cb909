// The index: experiments over time, and all runs and sweeps, to be opened or compared. Part of aiq.
"use strict";

(async () => {
  const { h, load, figure, dollars, duration, between, chip, name, top, keys, sortable, sparkline } = site;
  const chosen = new Set();
  let table;
  const compare = h("a", { class: "button", "aria-disabled": "true" }, "Compare runs");
  const help = keys({
    j: ["next run", () => table.step(1)], k: ["previous run", () => table.step(-1)],
    c: ["compare the selected runs", () => compare.hasAttribute("href") && compare.click()],
    x: ["select or deselect the run", () => document.activeElement.closest("tr")?.querySelector("input")?.click()],
    Escape: ["all runs", () => table.set("")],
  });

  const headline = (run) => run.metrics?.find((metric) => metric.name === run.headline[0]) ?? null;
  const href = (run) => `${run.path}/index.html`;

  const columns = [
    { name: "choose", title: h("span", { class: "hidden" }, "choose"), cell: (run) => run.kind === "run" && h("input", {
      type: "checkbox", "aria-label": `choose ${run.run_id}`, checked: chosen.has(run.path), onchange: (event) => choose(run.path, event.target.checked) }) },
    { name: "run", text: true, value: (run) => run.run_id, cell: (run) => h("span", {}, h("a", { href: href(run) }, run.run_id), run.kind === "sweep" && [" ", h("span", { class: "chip" }, `sweep of ${run.points}`), run.recommended && h("span", { class: "soft which" }, "take ", name(run.recommended))]) },
    { name: "experiment", text: true, value: (run) => run.experiment, cell: (run) => h("span", { class: "whole" }, run.experiment) },
    { name: "agent", text: true, value: (run) => run.agent, cell: (run) => h("span", { class: "whole" }, run.agent ?? "") },
    { name: "model", text: true, value: (run) => run.model, cell: (run) => h("span", { class: "whole" }, run.model ?? "") },
    { name: "dataset", text: true, value: (run) => run.dataset, cell: (run) => run.dataset ?? "" },
    { name: "status", text: true, value: (run) => run.status, cell: (run) => chip(run.status) },
    { name: "score", value: (run) => headline(run)?.mean, cell: (run) => score(run) },
    { name: "samples", value: (run) => run.samples, cell: (run) => run.kind === "run" && figure(run.samples) },
    { name: "failed", value: (run) => run.failed, cell: (run) => run.kind === "run" && h("span", { class: run.failed ? "problem" : "soft" }, figure(run.failed)) },
    { name: "cost", value: (run) => run.cost, cell: (run) => run.kind === "run" && dollars(run.cost) },
    { name: "tokens", value: (run) => run.tokens, cell: (run) => run.kind === "run" && figure(run.tokens) },
    { name: "time", value: (run) => run.seconds, cell: (run) => run.kind === "run" && duration(run.seconds) },
  ];

  function score(run) {
    const metric = headline(run);
    return metric && h("span", {}, h("b", {}, figure(metric.mean)), " ", between(metric.ci95), h("span", { class: "soft which" }, metric.name));
  }

  function choose(path, checked) {
    if (checked) chosen.add(path); else chosen.delete(path);
    compare.textContent = chosen.size ? `Compare ${chosen.size} runs` : "Compare runs";
    if (chosen.size > 1) {
      compare.href = `compare.html#${[...chosen].map(encodeURIComponent).join(",")}`;
      compare.removeAttribute("aria-disabled");
    } else {
      compare.removeAttribute("href");
      compare.setAttribute("aria-disabled", "true");
    }
  }

  /** `all`: runs and sweeps; the points of sweeps are left out, because they are not a development over time. */
  function course(experiment, all) {
    const runs = all.filter((run) => !point(run));
    const scored = runs.filter(headline);
    const last = scored.at(-1) ?? runs.at(-1), metric = headline(last);
    return h("li", { class: "course" },
      h("button", { type: "button", class: "inner", title: `only runs of ${experiment}`, onclick: () => table.set(`experiment = ${experiment}`) }, name(experiment)),
      h("span", { class: "soft" }, `${runs.length} ${runs.every((run) => run.kind === "sweep") ? "sweep" : "run"}${runs.length === 1 ? "" : "s"}`),
      metric ? h("span", { class: "latest" }, h("b", {}, figure(metric.mean)), " ", h("span", { class: "soft" }, name(metric.name))) : h("span", {}, chip(last.status)),
      sparkline(scored.filter((run) => run.headline[0] === last.headline?.[0]).map((run) => headline(run).mean), `${metric?.name} of ${scored.length} runs, the latest ${metric?.mean}`));
  }

  const point = (run) => run.run_id.split("/")[1];
  /** The latest first, points below their sweep. */
  const latest = (a, b) => {
    const [idA, idB] = [a, b].map((run) => run.run_id.split("/")[0]);
    return idA === idB ? Number(point(a) ?? -1) - Number(point(b) ?? -1) : idA < idB ? 1 : -1;
  };
  const read = async (fresh) => (await load("site/runs.js", fresh)).sort(latest);
  const cache = new Map();
  const wordsOf = (run) => cache.get(run) ?? cache.set(run, [run.run_id, run.experiment, run.agent, run.model, run.dataset, run.status, run.kind].join(" ").toLowerCase()).get(run);
  const courses = h("ul", { class: "courses" });
  function showCourses(runs) {
    const groups = new Map();
    for (const run of [...runs].reverse()) groups.set(run.experiment, [...groups.get(run.experiment) ?? [], run]);
    courses.replaceChildren(...[...groups].map(([experiment, group]) => course(experiment, group)));
  }

  const quickFilters = (runs) => [["running", "status = running"], ["failed", "status = failed"], ["interrupted", "status = interrupted"]]
    .filter(([status]) => runs.some((run) => run.status === status)).map(([title, text]) => [title, text]);

  const runs = await read();
  table = sortable({
    columns, rows: runs, label: "runs", wordsOf, quick: quickFilters(runs),
    decorate: (run, line) => run.status === "failed" && line.classList.add("bad"),
  });
  showCourses(runs);
  document.body.append(
    top([["All results", null]], help),
    h("main", {},
      h("h1", {}, "Results"),
      runs.length ? null : h("p", { class: "banner" }, "There are no runs yet: aiq run experiment=shallow_freshqa makes one."),
      h("h2", {}, "Experiments"), courses,
      h("h2", {}, "Runs"), h("p", { class: "soft" }, "Choose two or more to compare them."), h("p", {}, compare), table.element));
  if (site.live) setInterval(async () => { const newRuns = await read(true); showCourses(newRuns); table.replace(newRuns, quickFilters(newRuns)); }, 5000);
})();
