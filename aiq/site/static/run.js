// The page of a run: what came out, what failed, its samples; and by `#SAMPLE.EPOCH` one of them. Part of aiq.
"use strict";

(async () => {
  const { h, load, figure, dollars, duration, between, chip, moment, name, facts, plain, readable, command, rounded, top, keys, sortable } = site;
  const LIVE_MS = 5000;
  const MOST_SCORES = 4;  // so many are shown at once; of more, the first of each judge
  let run, rows, metricOf, table, view = null;
  async function read(fresh) {
    run = (await load("site/summary.js", fresh))[0];
    rows = attempts(run.columns);
    metricOf = new Map(run.metrics.map((metric) => [metric.name, metric]));
  }
  await read();
  const overview = h("main", { id: "overview" }), detail = h("main", { id: "detail", hidden: true });
  const trail = h("div", { class: "trail" });

  /** The table's rows: a sample each, with its attempts as places in the columns. */
  function attempts(columns) {
    const placesById = new Map();
    (columns.id ?? []).forEach((id, place) => placesById.has(id) ? placesById.get(id).push(place) : placesById.set(id, [place]));
    return [...placesById].map(([id, places]) => ({ id, places }));
  }

  const column = (field) => (row) => run.columns[field][row.places[0]];
  const mean = (values) => values.length ? values.reduce((a, b) => a + b, 0) / values.length : null;
  const numbers = (row, values) => row.places.map((place) => values[place]).filter((value) => value !== null && value !== undefined);
  const scoresOf = (row, metric) => numbers(row, run.columns.scores[metric] ?? []);
  const flips = (row) => run.headline.some((metric) => new Set(scoresOf(row, metric)).size > 1);
  const key = (place) => `${run.columns.id[place]}.${run.columns.epoch[place]}`;
  const nameOf = (place) => `sample ${run.columns.id[place]}${run.epochs > 1 ? `, epoch ${run.columns.epoch[place]}` : ""}`;
  const address = (place, part = "") => `#${encodeURIComponent(key(place))}${part ? `/${part}` : ""}`;
  const isFirst = (metric) => run.headline.includes(metric.name) || run.metrics.length <= MOST_SCORES;

  /** How good a score is within its metric's range: low, middle or high; nothing where there is no range. */
  function grade(metricName, value) {
    const metric = metricOf.get(metricName);
    if (!metric || metric.low === null || value === null || value === undefined) return null;
    const share = (value - metric.low) / (metric.high - metric.low);
    const quality = metric.higher ? share : 1 - share;
    return quality < 1 / 3 ? "low" : quality < 2 / 3 ? "middle" : "high";
  }

  function columnsOf() {
    const manyEpochs = run.epochs > 1;
    const average = (field) => (row) => mean(numbers(row, run.columns[field]));
    return [
      { name: "sample", text: true, value: (row) => row.order, filtered: (row) => row.id, cell: (row) => h("span", { class: "whole" }, manyEpochs ? [row.id, h("span", { class: "soft" }, " epoch ")] : null, row.places.map((place) =>
        [h("a", { href: address(place), "aria-label": `sample ${row.id}, epoch ${run.columns.epoch[place]}` }, String(manyEpochs ? run.columns.epoch[place] : row.id)), " "])) },
      { name: "question", text: true, value: column("question"), cell: (row) => h("div", { class: "question" }, run.columns.question[row.places[0]]) },
      { name: "status", text: true, value: column("status"), filtered: (row) => row.places.map((place) => run.columns.status[place]),
        cell: (row) => [...new Set(row.places.map((place) => run.columns.status[place]))].map(chip) },
      { name: "route", text: true, value: column("route"), filtered: (row) => row.places.map((place) => run.columns.route[place]), cell: (row) => [...new Set(row.places.map((place) => run.columns.route[place]))].join(", ") },
      ...run.metrics.map((metric) => ({
        name: metric.name, shown: isFirst(metric), value: (row) => mean(scoresOf(row, metric.name)), filtered: (row) => scoresOf(row, metric.name),
        cell: (row) => {
          const values = scoresOf(row, metric.name);
          if (!values.length) return h("span", { class: "soft" }, "-");
          return h("span", { class: `score ${grade(metric.name, mean(values)) ?? ""}` }, figure(mean(values)), new Set(values).size > 1 ? h("span", { class: "soft epochs" }, ` of ${values.map(rounded).join(", ")}`) : null);
        },
      })),
      ...(manyEpochs ? [{ name: "flips", value: (row) => Number(flips(row)), cell: (row) => flips(row) ? h("span", { class: "key duplicate" }, "flips") : "" }] : []),
      { name: "cost", value: average("cost"), cell: (row) => dollars(average("cost")(row)) },
      { name: "tokens", value: average("tokens"), cell: (row) => figure(average("tokens")(row)) },
      { name: "seconds", value: average("seconds"), cell: (row) => duration(average("seconds")(row)) },
    ];
  }

  /** Fields that a filter knows without a column of their own. */
  const hidden = () => [
    ...run.metrics.filter((metric) => !isFirst(metric)).map((metric) => metric.name), "citations", "error", "unjudged", ...Object.keys(run.columns.tags ?? {}),
  ];

  function samples() {
    rows.forEach((row, place) => { row.order = place; });
    const columns = columnsOf();
    const cache = new Map();
    const wordsOf = (row) => cache.get(row) ?? cache.set(row, row.places.map((place) => [key(place), run.columns.question[place], run.columns.status[place], run.columns.route[place], run.columns.error[place],
      ...Object.values(run.columns.tags ?? {}).map((tag) => tag[place])].join(" ")).join(" ").toLowerCase()).get(row);
    const sampleTable = sortable({
      columns: columns.filter((column) => column.shown !== false), rows, label: "samples", wordsOf, quick: quickFilters(),
      hidden: [...columns.filter((column) => column.shown === false), ...hidden().filter((field) => !columns.some((column) => column.name === field)).map((field) => ({
        name: field, value: (row) => (run.columns[field] ?? run.columns.tags[field])[row.places[0]], filtered: (row) => row.places.flatMap((place) => (run.columns[field] ?? run.columns.tags[field])[place]) }))],
      decorate: (row, line) => {
        if (withAnswers) row.places.forEach(async (place) => line.querySelector(".question").append(sample.brief(await attemptAt(place))));
        const worst = run.headline.map((metric) => grade(metric, mean(scoresOf(row, metric)))).find(Boolean);
        if (row.places.some((place) => run.columns.status[place] === "failed")) line.classList.add("bad");
        else if (worst === "low") line.classList.add("wrong");
        else if (row.places.some((place) => run.columns.unjudged[place].length)) line.classList.add("unjudged");
      },
    });
    answers.setAttribute("aria-pressed", String(withAnswers));
    sampleTable.element.querySelector(".tools").append(answers);
    return sampleTable;
  }

  let withAnswers = false;
  const answers = h("button", { type: "button", onclick: () => {
    withAnswers = !withAnswers;
    answers.setAttribute("aria-pressed", String(withAnswers));
    table.set(table.input.value);
  } }, "answers and reasons");
  const attemptAt = async (place) => (await load(`site/samples-${run.columns.texts[place]}.js`)).find((attempt) => attempt.id === run.columns.id[place] && attempt.epoch === run.columns.epoch[place]);

  /** Filters at hand: what failed, what is wrong by a metric of right and wrong, what differs between epochs. */
  function quickFilters() {
    const countRows = (test) => rows.filter(test).length;
    const filters = [["failed", "status = failed", (row) => row.places.some((place) => run.columns.status[place] === "failed")],
      ["cut off", "status = \"limit, partial\"", (row) => row.places.some((place) => run.columns.status[place] === "limit, partial")]];
    for (const metric of run.headline) {
      const values = new Set((run.columns.scores[metric] ?? []).filter((value) => value !== null));
      const { low, high, higher } = metricOf.get(metric);
      if (values.size && [...values].every((value) => value === low || value === high))
        filters.push([`wrong by ${metric}`, `${metric} = ${higher ? low : high}`, (row) => scoresOf(row, metric).includes(higher ? low : high)]);
    }
    if (run.epochs > 1) filters.push(["flips", "flips = 1", flips]);
    for (const judge of new Set((run.columns.unjudged ?? []).flat())) filters.push([`not judged by ${judge}`, `unjudged = ${judge}`, (row) => row.places.some((place) => run.columns.unjudged[place].includes(judge))]);
    return filters.map(([title, text, test]) => [title, text, countRows(test)]).filter(([, , count]) => count).map(([title, text, count]) => [`${title} (${count})`, text]);
  }

  function head() {
    return h("header", {},
      h("h1", {}, name(run.experiment), " ", chip(run.status), run.sweep ? h("a", { class: "chip", href: "../index.html" }, `point ${run.sweep.job} of a sweep`) : null),
      facts([["run", run.run_id], ["dataset", `${run.dataset}, ${run.of} of ${run.size} samples`], ["epochs", run.epochs > 1 ? run.epochs : null], ["agent", run.agent], ["model", run.model],
        ["cost", run.spent.replace(/^cost /, "")], ["time", duration(run.seconds)], ["started", moment(run.started)], ["clock", moment(run.clock)],
        ["reports of", run.rescored], ...Object.entries(run.axes ?? {})]),
      run.notes.map((note) => h("p", { class: "banner" }, note)), run.nothing ? h("p", { class: "banner" }, run.nothing) : null);
  }

  /** What went wrong, with the samples that it hit; nothing where nothing did. */
  function problems() {
    const lines = [
      ...run.errors.map(([count, message]) => h("li", {}, h("b", {}, `${count} ${count === 1 ? "attempt" : "attempts"}: `), message)),
      ...run.judge_errors.map((line) => h("li", {}, line)), ...run.caveats.map((line) => h("li", {}, line)),
    ];
    if (!lines.length && run.status === "finished") return null;
    return h("section", { class: `problems${run.all_failed ? " all" : ""}`, "aria-labelledby": "problems" },
      h("h2", { id: "problems" }, run.all_failed ? `All ${run.attempts} attempts failed` : run.status === "running" ? "Running" : lines.length ? "What went wrong" : `The run is ${run.status}`),
      h("ul", {}, lines), run.failed ? h("p", {}, h("button", { type: "button", onclick: () => { table.set("status = failed"); table.element.scrollIntoView(); } }, "Show the attempts that failed")) : null);
  }

  function scores() {
    const hasOther = run.metrics.some((metric) => metric.other !== null && metric.other !== undefined);
    const reliable = run.metrics.some((metric) => metric.reliability);
    const scoreTable = (metrics, label) => h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, h("table", { class: "cards means" },
        h("thead", {}, h("tr", {}, ["metric", "mean", "95\u202f% interval", "", "n", hasOther ? `failures ${run.alternative === "exclude" ? "excluded" : "as worst"}` : null, reliable ? "judge reliability" : null].filter((text) => text !== null).map((text) => h("th", { scope: "col" }, text || h("span", { class: "hidden" }, "place in its range"))))),
        h("tbody", {}, metrics.map((metric) => h("tr", {},
          h("td", { class: "named" }, h("b", {}, name(metric.name))),
          h("td", { "data-label": "mean" }, h("b", {}, figure(metric.mean))), h("td", { "data-label": "95\u202f% interval" }, between(metric.ci95) ?? "-"), h("td", { class: "text" }, rangeBar(metric)),
          h("td", { "data-label": "n", title: metric.estimator }, String(metric.n)),
          hasOther ? h("td", { "data-label": "failures otherwise" }, figure(metric.other)) : null, reliable ? h("td", { "data-label": "judge reliability" }, metric.reliability ?? "-") : null)))));
    const headline = run.metrics.filter(isFirst);
    return h("section", { "aria-labelledby": "scores" }, h("h2", { id: "scores" }, "Scores"),
      headline.length ? scoreTable(headline, "headline scores") : null,
      headline.length < run.metrics.length ? h("details", {}, h("summary", {}, `All ${run.metrics.length} scores`), h("div", { class: "inside" }, scoreTable(run.metrics, "all scores"))) : null,
      run.missing.map((line) => h("p", { class: "soft" }, line)),
      h("p", {}, run.attempts_line, run.partial ? `; ${run.partial} cut off, and judged by what there was` : null, run.citations ? `; citations of reports: ${run.citations}` : null,
        run.statuses.failed ? `; a failed attempt counts as ${run.policy === "worst" ? "each metric's worst value" : "nothing"}` : null),
      run.left_out ? h("details", {}, h("summary", {}, "What the means leave out"), plain(run.left_out.headings, run.left_out.rows, "what the means leave out")) : null,
      run.noise ? h("details", {}, h("summary", {}, "Judge noise"), plain(run.noise.headings, run.noise.rows, "judge noise")) : null);
  }

  /** Where mean and interval lie between the ends of a metric. */
  function rangeBar({ mean: middle, ci95, low, high }) {
    if (low === null || low === undefined) return null;
    const percent = (value) => `${100 * Math.min(1, Math.max(0, (value - low) / (high - low)))}%`;
    const [left, right] = (ci95 ?? [middle, middle]).map((end) => Math.min(1, Math.max(0, (end - low) / (high - low))));
    const bar = h("div", { class: "bar", title: `${low} to ${high}`, "aria-hidden": "true" }, h("i"), h("b"));
    bar.firstChild.style.left = `${100 * left}%`;
    bar.firstChild.style.width = `${100 * (right - left)}%`;
    bar.lastChild.style.left = percent(middle);
    return bar;
  }

  function extremes() {
    const metric = run.headline[0];
    if (rows.length <= 5) return null;  // all are in the table below
    const list = (title, ordered, cell) => {
      const first = ordered.slice(0, 5);
      return first.length ? h("div", {}, h("h3", {}, title), h("ul", { class: "plain" }, first.map((row) => h("li", {}, h("a", { href: address(row.places[0]) }, row.id), h("span", { class: "soft said" }, run.columns.question[row.places[0]]), cell(row))))) : null;
    };
    const sortedRows = (measure, descending) => rows.map((row) => [measure(row), row]).filter(([number]) => number !== null).sort(([a], [b]) => descending ? b - a : a - b).map(([, row]) => row);
    const spendColumn = run.cost ? "cost" : "tokens", spendOf = (row) => mean(numbers(row, run.columns[spendColumn]));
    const differ = metric && new Set(rows.map((row) => mean(scoresOf(row, metric)))).size > 1;
    return h("div", { class: "extremes" },
      differ ? list(`Worst by ${metric}`, sortedRows((row) => mean(scoresOf(row, metric)), !metricOf.get(metric).higher), (row) => figure(mean(scoresOf(row, metric)))) : null,
      list(run.cost ? "Most costly" : "Most tokens", sortedRows(spendOf, true), (row) => run.cost ? dollars(spendOf(row)) : figure(spendOf(row))),
      list("Slowest", sortedRows((row) => mean(numbers(row, run.columns.seconds)), true), (row) => duration(mean(numbers(row, run.columns.seconds)))));
  }

  async function drawings() {
    const records = run.plots.length ? await load("site/plots.js", site.live) : [];
    const plotsOf = (prefix) => records.filter((plot) => plot.name.startsWith(prefix));
    const grid = (group, small) => group.length ? h("div", { class: `plots${small ? " small" : ""}` }, group.map(plots.figure)) : null;
    const isShown = ({ title, values }) => run.metrics.some((metric) => isFirst(metric) && (metric.name === title || values.some((row) => row.name === metric.name)));
    const section = (title, group, { small = true, inner = null } = {}) => group.length || inner ? [h("h2", {}, title), grid(group, small), inner] : [];
    /** Of many scores those of the table, the others closed. */
    const splitSection = (title, group, small) => {
      const rest = group.filter((plot) => !isShown(plot));
      return section(title, group.filter(isShown), { small, inner: rest.length ? h("details", {}, h("summary", {}, rest.length === 1 ? "1 more score" : `${rest.length} more scores`), h("div", { class: "inside" }, grid(rest, true))) : null });
    };
    return [
      ...splitSection("Scores with 95\u202f% intervals", plotsOf("score-"), false), ...splitSection("Distributions over samples", plotsOf("spread-"), true),
      ...section("Routes", plotsOf("flow"), { small: false, inner: run.routes.length > 1 ? routes() : null }),
      ...section("Cost, tokens and latency of an attempt", plotsOf("each-")), ...section("Spend by role", plotsOf("roles-"), { inner: spend() }), ...section("Slices", plotsOf("slice-")), slices(),
    ];
  }

  const routes = () => plain(["route", "attempts", "mean seconds", "cost", ...run.headline], run.routes.map((route) => [route.name, route.n, route.seconds, route.cost, ...run.headline.map((metric) => route.metrics[metric]?.mean ?? "-")]), "routes");
  const spend = () => h("details", {}, h("summary", {}, "Spend in numbers"), plain(["role", "model calls", "input tokens", "output tokens", "cost", "calls without usage"],
    run.spend.map(([account, role, calls, input, output, cost, unreported]) => [role || `${account}, all`, calls, input, output, cost, unreported]), "spend"));
  const slices = () => Object.keys(run.slices).length ? h("details", {}, h("summary", {}, "All scores of each slice"), Object.entries(run.slices).map(([tag, groups]) => plain([tag, ...run.metrics.map((metric) => metric.name)],
    groups.map(([value, metrics]) => [value, ...run.metrics.map((metric) => metrics[metric.name]?.mean ?? "-")]), `by ${tag}`))) : null;
  const quoted = (text) => (/^[\w.,:=@%+/-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`); // for a shell
  const settings = () => h("section", { "aria-labelledby": "settings" }, h("h2", { id: "settings" }, "Settings"),
    command("copy", ["aiq", ...(run.rescored ? ["rescore", run.rescored] : ["run"]), ...run.overrides].map(quoted).join(" ")),
    h("details", {}, h("summary", {}, "All settings, as the run resolved them"), h("div", { class: "inside" }, readable(run.config))),
    h("details", {}, h("summary", {}, "Hashes, models and versions"), h("div", { class: "inside" }, readable({ models: run.models, hashes: run.hashes, versions: run.versions, revision: run.revision }))));

  const later = h("div", { class: "later" });
  function show() {
    const filterText = table?.input.value;
    table = samples();
    if (filterText) table.set(filterText);
    overview.replaceChildren(...[head(), problems(), scores(), h("section", { "aria-labelledby": "samples" }, h("h2", { id: "samples" }, "Samples"), extremes(), table.element), later].filter(Boolean));
  }
  const showLater = async () => later.replaceChildren(...(await drawings()).flat().filter(Boolean), settings());

  /** The attempt that the address names; the places of all in the order of the table. */
  const order = () => table.matches.flatMap((row) => row.places);
  function target() {
    const [id, part] = decodeURIComponent(location.hash.slice(1)).split(/\/(?=[a-z]\d*$)/);
    return [(run.columns.id ?? []).findIndex((_, place) => key(place) === id), part];
  }

  async function route() {
    const [place, part] = target();
    document.title = place < 0 ? `${run.experiment} ${run.run_id}` : `${nameOf(place)}, ${run.experiment} ${run.run_id}`;
    if (place < 0) {
      const previous = view;
      view = null;
      detail.hidden = true;
      overview.hidden = false;
      trailTo(null);
      if (previous) { scrollTo(0, previous.scroll); overview.querySelector(`a[href="${CSS.escape(address(previous.place))}"]`)?.focus({ preventScroll: true }); }
      return;
    }
    if (view?.place !== place) {
      const isAttempt = (record) => record.id === run.columns.id[place] && record.epoch === run.columns.epoch[place];
      const timeline = async () => (await load(`site/events-${run.columns.events[place]}.js`)).find(isAttempt);
      const attempt = await attemptAt(place);
      if (target()[0] !== place) return;  // the address has changed while they were loading
      view = { place, scroll: view?.scroll ?? scrollY, page: sample.page(attempt, run, (anchor) => address(place, anchor), timeline) };
      detail.replaceChildren(view.page.element);
      overview.hidden = true;
      detail.hidden = false;
      trailTo(place);
      if (!part) scrollTo(0, 0);
    }
    await view.page.show(part);
  }

  function trailTo(place) {
    const places = order(), position = places.indexOf(place);
    const step = (offset, label) => h("a", { class: "button", href: places[position + offset] === undefined ? null : address(places[position + offset]), "aria-disabled": places[position + offset] === undefined ? "true" : null }, label);
    trail.replaceChildren(top([["All results", `${site.root}index.html`], [run.experiment + " " + run.run_id, place === null ? null : "#"], ...(place === null ? [] : [[nameOf(place), null]])],
      ...(place === null ? [] : [h("span", { class: "soft" }, position < 0 ? "" : `${position + 1} of ${places.length}`), step(-1, "Previous"), step(1, "Next")]), help));
  }

  function go(offset) {
    if (!view) return table.step(offset);
    const places = order(), next = places[places.indexOf(view.place) + offset];
    if (next !== undefined) location.hash = address(next);
  }
  function up() {
    const [place, part] = target();
    location.hash = place < 0 ? "" : part ? address(place) : "";
    if (place < 0) location.href = run.sweep ? "../index.html" : `${site.root}index.html`;
  }
  const cite = (offset) => {
    if (!view) return;
    const [place, part] = target();
    const number = part?.startsWith("c") ? Number(part.slice(1)) + offset : offset > 0 ? 0 : -1;
    if (detail.querySelector(`[data-cite="${number}"]`)) location.hash = address(place, `c${number}`);
  };

  const help = keys({
    j: ["next sample", () => go(1)], k: ["previous sample", () => go(-1)],
    n: ["next citation", () => cite(1)], p: ["previous citation", () => cite(-1)],
    m: ["the model call that wrote the report", () => detail.querySelector("a.writer")?.click()],
    a: ["show or hide answers and reasons in the table", () => answers.click()],
    t: ["the timeline", () => view && detail.querySelector("#timeline").scrollIntoView()],
    Escape: ["up: from a citation to the sample, to the run, to all results", up],
  });

  document.body.append(trail, overview, detail);
  show();
  addEventListener("hashchange", route);
  await route();
  await showLater();

  if (site.live && run.status === "running") {
    const timer = setInterval(async () => {
      await read(true);
      const scroll = scrollY;
      show();
      if (!view) scrollTo(0, scroll);
      if (run.status === "running") return;
      clearInterval(timer);
      await showLater();
    }, LIVE_MS);
  }
})();
