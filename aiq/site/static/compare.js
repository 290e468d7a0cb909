// Several runs side by side: means, aligned samples, flips, and how two reports differ. Part of aiq.
"use strict";

(async () => {
  const { h, load, figure, dollars, between, name, plain, command, rounded, top, keys, sortable, prose, reportText } = site;
  const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  const MOST_PARTS = 3000;  // sentences of a report beyond which a difference takes too long
  let table;
  const help = keys({ j: ["next sample", () => table?.step(1)], k: ["previous sample", () => table?.step(-1)], Escape: ["all results", () => { location.href = "index.html"; }] });
  const main = h("main");
  document.body.append(top([["All results", "index.html"], ["Compare", null]], help), main);

  const paths = location.hash.slice(1).split(",").filter(Boolean).map(decodeURIComponent);
  addEventListener("hashchange", () => location.reload());
  const known = new Set((await load("site/runs.js")).map((run) => run.path));
  const absent = paths.filter((path) => !known.has(path));
  if (paths.length < 2 || absent.length) {
    main.append(h("h1", {}, "Compare runs"), h("p", { class: "banner" }, absent.length ? `There is no run ${absent.join(", ")}.` : "Choose two or more runs in the list of all results."), h("p", {}, h("a", { href: "index.html" }, "All results")));
    return;
  }
  const runs = await Promise.all(paths.map(async (path) => ({ path, ...(await load(`${path}/site/summary.js`))[0] })));
  runs.forEach((run, place) => {
    run.letter = LETTERS[place];
    run.at = new Map((run.columns.id ?? []).map((id, attempt) => [`${id}.${run.columns.epoch[attempt]}`, attempt]));
  });
  const metrics = runs[0].metrics.map((metric) => metric.name).filter((metric) => runs.every((run) => run.columns.scores[metric]));
  let metric = runs[0].headline.find((metric) => metrics.includes(metric)) ?? metrics[0];
  const questionOf = (run, key) => run.columns.question[run.at.get(key)];
  const common = [...runs[0].at.keys()].filter((key) => runs.every((run) => run.at.has(key) && questionOf(run, key) === questionOf(runs[0], key)));
  const value = (run, key, metricName = metric) => run.columns.scores[metricName]?.[run.at.get(key)] ?? null;
  const others = runs.slice(1);
  const change = (run, key, metricName = metric) => { const [a, b] = [value(runs[0], key, metricName), value(run, key, metricName)]; return a === null || b === null ? null : b - a; };
  const flip = (key) => new Set(runs.map((run) => value(run, key)).filter((score) => score !== null)).size > 1;

  function means() {
    const row = (title, cellOf) => [title, ...runs.map(cellOf)];
    const mean = (values) => values.length ? values.reduce((a, b) => a + b, 0) / values.length : null;
    const cell = (run, metricName) => { const summary = run.metrics.find((summary) => summary.name === metricName); return summary ? h("span", {}, figure(summary.mean), " ", between(summary.ci95)) : "-"; };
    const difference = (run, metricName) => {
      if (runs[0].metrics.find((summary) => summary.name === metricName).estimator === "ratio") return null;  // needs sums that columns lack; aiq compare has them
      return mean(common.map((key) => change(run, key, metricName)).filter((delta) => delta !== null));
    };
    const blanks = others.map(() => "");
    return plain(["", ...runs.map((run) => run.letter), ...others.map((run) => `${run.letter} - A, same samples`)], [
      ...metrics.map((metricName) => [...row(metricName, (run) => cell(run, metricName)), ...others.map((run) => signed(difference(run, metricName)))]),
      [...row("samples", (run) => run.samples), ...others.map(() => common.length === runs[0].at.size ? "all" : `${common.length} attempts in common`)],
      [...row("failed attempts", (run) => run.failed), ...blanks], [...row("cost", (run) => dollars(run.cost)), ...blanks], [...row("tokens", (run) => run.tokens), ...blanks],
    ], "means");
  }
  const signed = (delta) => delta === null ? "-" : h("span", { title: String(delta) }, `${delta > 0 ? "+" : ""}${rounded(delta)}`);

  const differenceSection = h("section", { "aria-label": "difference of two reports", tabindex: "-1" });
  async function open(key) {
    const attempts = await Promise.all(runs.map(async (run) => (await load(`${run.path}/site/samples-${run.columns.texts[run.at.get(key)]}.js`)).find((attempt) => `${attempt.id}.${attempt.epoch}` === key)));
    const first = attempts[0];
    differenceSection.replaceChildren(h("h2", {}, `Sample ${nameOf(key)}`), h("p", {}, first.question),
      first.gold?.answers.length ? h("p", {}, h("b", {}, "Gold: "), first.gold.answers.join(" / ")) : null,
      h("div", { class: "side" }, runs.map((run, place) => h("section", {}, h("h3", {}, h("a", { href: `${run.path}/index.html#${encodeURIComponent(key)}` }, `${run.letter}: ${run.run_id}`), " ", figure(value(run, key))),
        attempts[place].report === null ? h("p", { class: "problem" }, attempts[place].error ?? "no report") : h("div", { class: "report" }, prose(attempts[place].report))))),
      ...others.flatMap((run, place) => [h("h3", {}, `What ${run.letter} changed of A`), h("p", { class: "words diff" }, changes(sentences(first.report), sentences(attempts[place + 1].report)))]));
    differenceSection.focus();
    differenceSection.scrollIntoView();
  }

  const sentences = (report) => reportText(report ?? "").split(/(?<=[.!?\u3002]\s|\n)/).filter((part) => part.trim());
  /** The parts of both texts in order: kept, taken out (del) and put in (ins), by the longest common subsequence. */
  function changes(a, b) {
    if (a.length > MOST_PARTS || b.length > MOST_PARTS) return [h("span", { class: "soft" }, "too long to compare")];
    const lengths = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
    for (let i = a.length - 1; i >= 0; i--) for (let j = b.length - 1; j >= 0; j--)
      lengths[i][j] = a[i] === b[j] ? lengths[i + 1][j + 1] + 1 : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
    const parts = [];
    let i = 0, j = 0;
    while (i < a.length || j < b.length) {
      if (i < a.length && j < b.length && a[i] === b[j]) { parts.push(a[i]); i++; j++; }
      else if (j >= b.length || (i < a.length && lengths[i + 1][j] >= lengths[i][j + 1])) parts.push(h("del", {}, a[i++]));
      else parts.push(h("ins", {}, b[j++]));
    }
    return parts.some((part) => typeof part !== "string") ? parts : [h("span", { class: "soft" }, "nothing")];
  }

  const nameOf = (key) => runs.every((run) => run.epochs === 1) ? key.replace(/\.1$/, "") : key;
  const question = (key) => questionOf(runs[0], key);
  function samples() {
    const changedColumn = { name: "changed", text: true, value: (key) => flip(key) ? "yes" : "no", cell: (key) => flip(key) ? h("span", { class: "key duplicate" }, "changed") : "" };
    const manyRuns = runs.length > 2;  // with two, the difference shows it
    const lowerIsBetter = runs[0].metrics.find((summary) => summary.name === metric)?.higher === false;
    const grade = (delta) => !delta ? "" : (delta > 0) === lowerIsBetter ? "low" : "high";
    return sortable({
      label: "samples", rows: common, wordsOf: (key) => `${key} ${question(key)}`.toLowerCase(),
      quick: [["changed", "changed = yes"], ...others.flatMap((run) => [[`${run.letter} worse`, `${run.letter}-A ${lowerIsBetter ? ">" : "<"} 0`], [`${run.letter} better`, `${run.letter}-A ${lowerIsBetter ? "<" : ">"} 0`]])],
      columns: [
        { name: "sample", text: true, value: (key) => runs[0].at.get(key), filtered: nameOf, cell: (key) => h("a", { href: "#", onclick: (event) => { event.preventDefault(); open(key); } }, nameOf(key)) },
        { name: "question", text: true, value: question, cell: (key) => h("span", { class: "question" }, question(key)) },
        ...runs.map((run) => ({ name: run.letter, value: (key) => value(run, key), cell: (key) => figure(value(run, key)) })),
        ...others.map((run) => ({ name: `${run.letter}-A`, value: (key) => change(run, key), cell: (key) => h("span", { class: `score ${grade(change(run, key))}` }, signed(change(run, key))) })),
        ...manyRuns ? [changedColumn] : [],
      ],
      hidden: manyRuns ? [] : [changedColumn],
    });
  }

  const container = h("div");
  const show = () => { table = samples(); container.replaceChildren(table.element); };
  const metricSelect = h("select", { id: "metric", onchange: (event) => { metric = event.target.value; show(); } }, metrics.map((metricName) => h("option", { value: metricName, selected: metricName === metric }, metricName)));
  main.append(h("h1", {}, "Compare runs"),
    h("ul", { class: "plain" }, runs.map((run) => h("li", {}, h("b", {}, `${run.letter}: `), h("a", { href: `${run.path}/index.html` }, name(`${run.experiment} ${run.run_id}`)), h("span", { class: "soft" }, ` ${run.agent}, ${run.model}, ${run.overrides.filter((arg) => !arg.startsWith("output_dir=")).join(" ")}`)))),
    h("h2", {}, "Means"), means(), h("p", { class: "soft" }, "These do not show whether a difference is more than chance; this does, with intervals and corrected tests:"),
    command("copy", `aiq compare ${runs.map((run) => run.path).join(" ")}`),
    h("h2", {}, "Samples"), metrics.length ? h("p", {}, h("label", { for: "metric" }, "by "), metricSelect) : null, container, differenceSection);
  show();
})();
