// The page of a run: what came out, what failed, its samples; and by `#SAMPLE.EPOCH` one of them. Part of aiq.
"use strict";

(async () => {
  const { h, load, figure, dollars, duration, between, chip, moment, name, facts, plain, readable, command, rounded, top, keys, sortable } = site;
  const LIVE_MS = 5000;
  const MOST_SCORES = 4;  // so many are shown at once; of more, the first of each judge
  let run, rows, metricOf, table, shown = null;
  async function read(fresh) {
    run = (await load("site/summary.js", fresh))[0];
    rows = attempts(run.columns);
    metricOf = new Map(run.metrics.map((one) => [one.name, one]));
  }
  await read();
  const overview = h("main", { id: "overview" }), detail = h("main", { id: "detail", hidden: true });
  const trail = h("div", { class: "trail" });

  /** The table's rows: a sample each, with its attempts as places in the columns. */
  function attempts(columns) {
    const found = new Map();
    (columns.id ?? []).forEach((id, place) => found.has(id) ? found.get(id).push(place) : found.set(id, [place]));
    return [...found].map(([id, places]) => ({ id, places }));
  }

  const column = (which) => (row) => run.columns[which][row.places[0]];
  const mean = (values) => values.length ? values.reduce((a, b) => a + b, 0) / values.length : null;
  const numbers = (row, values) => row.places.map((place) => values[place]).filter((value) => value !== null && value !== undefined);
  const scored = (row, metric) => numbers(row, run.columns.scores[metric] ?? []);
  const flips = (row) => run.headline.some((metric) => new Set(scored(row, metric)).size > 1);
  const key = (place) => `${run.columns.id[place]}.${run.columns.epoch[place]}`;
  const nameOf = (place) => `sample ${run.columns.id[place]}${run.epochs > 1 ? `, epoch ${run.columns.epoch[place]}` : ""}`;
  const address = (place, part = "") => `#${encodeURIComponent(key(place))}${part ? `/${part}` : ""}`;
  const isFirst = (metric) => run.headline.includes(metric.name) || run.metrics.length <= MOST_SCORES;

  /** How good a score is within its metric's range: low, middle or high; nothing where there is no range. */
  function grade(metric, value) {
    const one = metricOf.get(metric);
    if (!one || one.low === null || value === null || value === undefined) return null;
    const share = (value - one.low) / (one.high - one.low);
    const good = one.higher ? share : 1 - share;
    return good < 1 / 3 ? "low" : good < 2 / 3 ? "middle" : "high";
  }

  function columnsOf() {
    const several = run.epochs > 1;
    const sum = (which) => (row) => mean(numbers(row, run.columns[which]));
    return [
      { name: "sample", text: true, value: (row) => row.order, filtered: (row) => row.id, cell: (row) => h("span", { class: "whole" }, several ? [row.id, h("span", { class: "soft" }, " epoch ")] : null, row.places.map((place) =>
        [h("a", { href: address(place), "aria-label": `sample ${row.id}, epoch ${run.columns.epoch[place]}` }, String(several ? run.columns.epoch[place] : row.id)), " "])) },
      { name: "question", text: true, value: column("question"), cell: (row) => h("div", { class: "question" }, run.columns.question[row.places[0]]) },
      { name: "status", text: true, value: column("status"), filtered: (row) => row.places.map((place) => run.columns.status[place]),
        cell: (row) => [...new Set(row.places.map((place) => run.columns.status[place]))].map(chip) },
      { name: "route", text: true, value: column("route"), filtered: (row) => row.places.map((place) => run.columns.route[place]), cell: (row) => [...new Set(row.places.map((place) => run.columns.route[place]))].join(", ") },
      ...run.metrics.map((metric) => ({
        name: metric.name, shown: isFirst(metric), value: (row) => mean(scored(row, metric.name)), filtered: (row) => scored(row, metric.name),
        cell: (row) => {
          const values = scored(row, metric.name);
          if (!values.length) return h("span", { class: "soft" }, "-");
          return h("span", { class: `score ${grade(metric.name, mean(values)) ?? ""}` }, figure(mean(values)), new Set(values).size > 1 ? h("span", { class: "soft epochs" }, ` of ${values.map(rounded).join(", ")}`) : null);
        },
      })),
      ...(several ? [{ name: "flips", value: (row) => Number(flips(row)), cell: (row) => flips(row) ? h("span", { class: "key duplicate" }, "flips") : "" }] : []),
      { name: "cost", value: sum("cost"), cell: (row) => dollars(sum("cost")(row)) },
      { name: "tokens", value: sum("tokens"), cell: (row) => figure(sum("tokens")(row)) },
      { name: "seconds", value: sum("seconds"), cell: (row) => duration(sum("seconds")(row)) },
    ];
  }

  /** Fields that a filter knows without a column of their own. */
  const hidden = () => [
    ...run.metrics.filter((metric) => !isFirst(metric)).map((metric) => metric.name), "citations", "error", "unjudged", ...Object.keys(run.columns.tags ?? {}),
  ];

  function samples() {
    rows.forEach((row, place) => { row.order = place; });
    const all = columnsOf();
    const said = new Map();
    const words = (row) => said.get(row) ?? said.set(row, row.places.map((place) => [key(place), run.columns.question[place], run.columns.status[place], run.columns.route[place], run.columns.error[place],
      ...Object.values(run.columns.tags ?? {}).map((tag) => tag[place])].join(" ")).join(" ").toLowerCase()).get(row);
    const found = sortable({
      columns: all.filter((one) => one.shown !== false), rows, label: "samples", said: words, quick: quick(),
      more: [...all.filter((one) => one.shown === false), ...hidden().filter((field) => !all.some((one) => one.name === field)).map((field) => ({
        name: field, value: (row) => (run.columns[field] ?? run.columns.tags[field])[row.places[0]], filtered: (row) => row.places.flatMap((place) => (run.columns[field] ?? run.columns.tags[field])[place]) }))],
      decorate: (row, line) => {
        if (withAnswers) row.places.forEach(async (place) => line.querySelector(".question").append(sample.brief(await texts(place))));
        const worst = run.headline.map((metric) => grade(metric, mean(scored(row, metric)))).find(Boolean);
        if (row.places.some((place) => run.columns.status[place] === "failed")) line.classList.add("bad");
        else if (worst === "low") line.classList.add("wrong");
        else if (row.places.some((place) => run.columns.unjudged[place].length)) line.classList.add("unjudged");
      },
    });
    answers.setAttribute("aria-pressed", String(withAnswers));
    found.element.querySelector(".tools").append(answers);
    return found;
  }

  let withAnswers = false;
  const answers = h("button", { type: "button", onclick: () => {
    withAnswers = !withAnswers;
    answers.setAttribute("aria-pressed", String(withAnswers));
    table.set(table.input.value);
  } }, "answers and reasons");
  const texts = async (place) => (await load(`site/samples-${run.columns.texts[place]}.js`)).find((one) => one.id === run.columns.id[place] && one.epoch === run.columns.epoch[place]);

  /** Filters at hand: what failed, what is wrong by a metric of right and wrong, what differs between epochs. */
  function quick() {
    const some = (test) => rows.filter(test).length;
    const given = [["failed", "status = failed", (row) => row.places.some((place) => run.columns.status[place] === "failed")],
      ["cut off", "status = \"limit, partial\"", (row) => row.places.some((place) => run.columns.status[place] === "limit, partial")]];
    for (const metric of run.headline) {
      const values = new Set((run.columns.scores[metric] ?? []).filter((value) => value !== null));
      const { low, high, higher } = metricOf.get(metric);
      if (values.size && [...values].every((value) => value === low || value === high))
        given.push([`wrong by ${metric}`, `${metric} = ${higher ? low : high}`, (row) => scored(row, metric).includes(higher ? low : high)]);
    }
    if (run.epochs > 1) given.push(["flips", "flips = 1", flips]);
    for (const judge of new Set((run.columns.unjudged ?? []).flat())) given.push([`not judged by ${judge}`, `unjudged = ${judge}`, (row) => row.places.some((place) => run.columns.unjudged[place].includes(judge))]);
    return given.map(([title, text, test]) => [title, text, some(test)]).filter(([, , count]) => count).map(([title, text, count]) => [`${title} (${count})`, text]);
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
    const other = run.metrics.some((metric) => metric.other !== null && metric.other !== undefined);
    const reliable = run.metrics.some((metric) => metric.reliability);
    const table = (metrics, label) => h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, h("table", { class: "cards means" },
        h("thead", {}, h("tr", {}, ["metric", "mean", "95\u202f% interval", "", "n", other ? `failures ${run.alternative === "exclude" ? "excluded" : "as worst"}` : null, reliable ? "judge reliability" : null].filter((one) => one !== null).map((heading) => h("th", { scope: "col" }, heading || h("span", { class: "hidden" }, "place in its range"))))),
        h("tbody", {}, metrics.map((metric) => h("tr", {},
          h("td", { class: "named" }, h("b", {}, name(metric.name))),
          h("td", { "data-label": "mean" }, h("b", {}, figure(metric.mean))), h("td", { "data-label": "95\u202f% interval" }, between(metric.ci95) ?? "-"), h("td", { class: "text" }, place(metric)),
          h("td", { "data-label": "n", title: metric.estimator }, String(metric.n)),
          other ? h("td", { "data-label": "failures otherwise" }, figure(metric.other)) : null, reliable ? h("td", { "data-label": "judge reliability" }, metric.reliability ?? "-") : null)))));
    const first = run.metrics.filter(isFirst);
    return h("section", { "aria-labelledby": "scores" }, h("h2", { id: "scores" }, "Scores"),
      first.length ? table(first, "headline scores") : null,
      first.length < run.metrics.length ? h("details", {}, h("summary", {}, `All ${run.metrics.length} scores`), h("div", { class: "inside" }, table(run.metrics, "all scores"))) : null,
      run.missing.map((line) => h("p", { class: "soft" }, line)),
      h("p", {}, run.attempts_line, run.partial ? `; ${run.partial} cut off, and judged by what there was` : null, run.citations ? `; citations of reports: ${run.citations}` : null,
        run.statuses.failed ? `; a failed attempt counts as ${run.policy === "worst" ? "each metric's worst value" : "nothing"}` : null),
      run.left_out ? h("details", {}, h("summary", {}, "What the means leave out"), plain(run.left_out.headings, run.left_out.rows, "what the means leave out")) : null,
      run.noise ? h("details", {}, h("summary", {}, "Judge noise"), plain(run.noise.headings, run.noise.rows, "judge noise")) : null);
  }

  /** Where mean and interval lie between the ends of a metric. */
  function place({ mean: middle, ci95, low, high }) {
    if (low === null || low === undefined) return null;
    const at = (value) => `${100 * Math.min(1, Math.max(0, (value - low) / (high - low)))}%`;
    const [left, right] = (ci95 ?? [middle, middle]).map((end) => Math.min(1, Math.max(0, (end - low) / (high - low))));
    const bar = h("div", { class: "bar", title: `${low} to ${high}`, "aria-hidden": "true" }, h("i"), h("b"));
    bar.firstChild.style.left = `${100 * left}%`;
    bar.firstChild.style.width = `${100 * (right - left)}%`;
    bar.lastChild.style.left = at(middle);
    return bar;
  }

  function extremes() {
    const metric = run.headline[0];
    if (rows.length <= 5) return null;  // all are in the table below
    const list = (title, values, by) => {
      const found = values.slice(0, 5);
      return found.length ? h("div", {}, h("h3", {}, title), h("ul", { class: "plain" }, found.map((row) => h("li", {}, h("a", { href: address(row.places[0]) }, row.id), h("span", { class: "soft said" }, run.columns.question[row.places[0]]), by(row))))) : null;
    };
    const by = (value, down) => rows.map((row) => [value(row), row]).filter(([found]) => found !== null).sort(([a], [b]) => down ? b - a : a - b).map(([, row]) => row);
    const cost = run.cost ? "cost" : "tokens", spent = (row) => mean(numbers(row, run.columns[cost]));
    const differ = metric && new Set(rows.map((row) => mean(scored(row, metric)))).size > 1;
    return h("div", { class: "extremes" },
      differ ? list(`Worst by ${metric}`, by((row) => mean(scored(row, metric)), !metricOf.get(metric).higher), (row) => figure(mean(scored(row, metric)))) : null,
      list(run.cost ? "Most costly" : "Most tokens", by(spent, true), (row) => run.cost ? dollars(spent(row)) : figure(spent(row))),
      list("Slowest", by((row) => mean(numbers(row, run.columns.seconds)), true), (row) => duration(mean(numbers(row, run.columns.seconds)))));
  }

  async function drawings() {
    const found = run.plots.length ? await load("site/plots.js", site.live) : [];
    const of = (start) => found.filter((plot) => plot.name.startsWith(start));
    const grid = (some, small) => some.length ? h("div", { class: `plots${small ? " small" : ""}` }, some.map(plots.figure)) : null;
    const isShown = ({ title, values }) => run.metrics.some((metric) => isFirst(metric) && (metric.name === title || values.some((one) => one.name === metric.name)));
    const part = (title, some, { small = true, inner = null } = {}) => some.length || inner ? [h("h2", {}, title), grid(some, small), inner] : [];
    /** Of many scores those of the table, the others closed. */
    const parted = (title, some, small) => {
      const others = some.filter((plot) => !isShown(plot));
      return part(title, some.filter(isShown), { small, inner: others.length ? h("details", {}, h("summary", {}, others.length === 1 ? "1 more score" : `${others.length} more scores`), h("div", { class: "inside" }, grid(others, true))) : null });
    };
    return [
      ...parted("Scores with 95\u202f% intervals", of("score-"), false), ...parted("Distributions over samples", of("spread-"), true),
      ...part("Routes", of("flow"), { small: false, inner: run.routes.length > 1 ? routes() : null }),
      ...part("Cost, tokens and latency of an attempt", of("each-")), ...part("Spend by role", of("roles-"), { inner: spend() }), ...part("Slices", of("slice-")), slices(),
    ];
  }

  const routes = () => plain(["route", "attempts", "mean seconds", "cost", ...run.headline], run.routes.map((route) => [route.name, route.n, route.seconds, route.cost, ...run.headline.map((metric) => route.metrics[metric]?.mean ?? "-")]), "routes");
  const spend = () => h("details", {}, h("summary", {}, "Spend in numbers"), plain(["role", "model calls", "input tokens", "output tokens", "cost", "calls without usage"],
    run.spend.map(([account, role, calls, input, output, cost, unreported]) => [role || `${account}, all`, calls, input, output, cost, unreported]), "spend"));
  const slices = () => Object.keys(run.slices).length ? h("details", {}, h("summary", {}, "All scores of each slice"), Object.entries(run.slices).map(([tag, groups]) => plain([tag, ...run.metrics.map((metric) => metric.name)],
    groups.map(([value, found]) => [value, ...run.metrics.map((metric) => found[metric.name]?.mean ?? "-")]), `by ${tag}`))) : null;
  const quoted = (text) => (/^[\w.,:=@%+/-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`); // for a shell
  const settings = () => h("section", { "aria-labelledby": "settings" }, h("h2", { id: "settings" }, "Settings"),
    command("copy", ["aiq", ...(run.rescored ? ["rescore", run.rescored] : ["run"]), ...run.overrides].map(quoted).join(" ")),
    h("details", {}, h("summary", {}, "All settings, as the run resolved them"), h("div", { class: "inside" }, readable(run.config))),
    h("details", {}, h("summary", {}, "Hashes, models and versions"), h("div", { class: "inside" }, readable({ models: run.models, hashes: run.hashes, versions: run.versions, revision: run.revision }))));

  const later = h("div", { class: "later" });
  function show() {
    const typed = table?.input.value;
    table = samples();
    if (typed) table.set(typed);
    overview.replaceChildren(...[head(), problems(), scores(), h("section", { "aria-labelledby": "samples" }, h("h2", { id: "samples" }, "Samples"), extremes(), table.element), later].filter(Boolean));
  }
  const showLater = async () => later.replaceChildren(...(await drawings()).flat().filter(Boolean), settings());

  /** The attempt that the address names; the places of all in the order of the table. */
  const order = () => table.shown.flatMap((row) => row.places);
  function asked() {
    const [id, part] = decodeURIComponent(location.hash.slice(1)).split(/\/(?=[a-z]\d*$)/);
    return [(run.columns.id ?? []).findIndex((_, place) => key(place) === id), part];
  }

  async function route() {
    const [place, part] = asked();
    document.title = place < 0 ? `${run.experiment} ${run.run_id}` : `${nameOf(place)}, ${run.experiment} ${run.run_id}`;
    if (place < 0) {
      const before = shown;
      shown = null;
      detail.hidden = true;
      overview.hidden = false;
      trailTo(null);
      if (before) { scrollTo(0, before.scroll); overview.querySelector(`a[href="${CSS.escape(address(before.place))}"]`)?.focus({ preventScroll: true }); }
      return;
    }
    if (shown?.place !== place) {
      const own = (one) => one.id === run.columns.id[place] && one.epoch === run.columns.epoch[place];
      const timeline = async () => (await load(`site/events-${run.columns.events[place]}.js`)).find(own);
      const found = await texts(place);
      if (asked()[0] !== place) return;  // the address has changed while they were loading
      shown = { place, scroll: shown?.scroll ?? scrollY, page: sample.page(found, run, (to) => address(place, to), timeline) };
      detail.replaceChildren(shown.page.element);
      overview.hidden = true;
      detail.hidden = false;
      trailTo(place);
      if (!part) scrollTo(0, 0);
    }
    await shown.page.show(part);
  }

  function trailTo(place) {
    const all = order(), at = all.indexOf(place);
    const step = (by, label) => h("a", { class: "button", href: all[at + by] === undefined ? null : address(all[at + by]), "aria-disabled": all[at + by] === undefined ? "true" : null }, label);
    trail.replaceChildren(top([["All results", `${site.root}index.html`], [run.experiment + " " + run.run_id, place === null ? null : "#"], ...(place === null ? [] : [[nameOf(place), null]])],
      ...(place === null ? [] : [h("span", { class: "soft" }, at < 0 ? "" : `${at + 1} of ${all.length}`), step(-1, "Previous"), step(1, "Next")]), help));
  }

  function go(by) {
    if (!shown) return table.step(by);
    const all = order(), next = all[all.indexOf(shown.place) + by];
    if (next !== undefined) location.hash = address(next);
  }
  function up() {
    const [place, part] = asked();
    location.hash = place < 0 ? "" : part ? address(place) : "";
    if (place < 0) location.href = run.sweep ? "../index.html" : `${site.root}index.html`;
  }
  const cite = (by) => {
    if (!shown) return;
    const [place, part] = asked();
    const number = part?.startsWith("c") ? Number(part.slice(1)) + by : by > 0 ? 0 : -1;
    if (detail.querySelector(`[data-cite="${number}"]`)) location.hash = address(place, `c${number}`);
  };

  const help = keys({
    j: ["next sample", () => go(1)], k: ["previous sample", () => go(-1)],
    n: ["next citation", () => cite(1)], p: ["previous citation", () => cite(-1)],
    m: ["the model call that wrote the report", () => detail.querySelector("a.writer")?.click()],
    a: ["show or hide answers and reasons in the table", () => answers.click()],
    t: ["the timeline", () => shown && detail.querySelector("#timeline").scrollIntoView()],
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
      const place = scrollY;
      show();
      if (!shown) scrollTo(0, place);
      if (run.status === "running") return;
      clearInterval(timer);
      await showLater();
    }, LIVE_MS);
  }
})();
