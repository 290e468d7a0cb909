// Several runs side by side: means, aligned samples, flips, and how two reports differ. Part of aiq.
"use strict";

(async () => {
  const { h, load, figure, dollars, between, name, plain, command, rounded, top, keys, sortable, prose, spoken } = site;
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
  const metrics = runs[0].metrics.map((one) => one.name).filter((one) => runs.every((run) => run.columns.scores[one]));
  let metric = runs[0].headline.find((one) => metrics.includes(one)) ?? metrics[0];
  const asked = (run, key) => run.columns.question[run.at.get(key)];
  const common = [...runs[0].at.keys()].filter((key) => runs.every((run) => run.at.has(key) && asked(run, key) === asked(runs[0], key)));
  const value = (run, key, one = metric) => run.columns.scores[one]?.[run.at.get(key)] ?? null;
  const others = runs.slice(1);
  const change = (run, key, one = metric) => { const [a, b] = [value(runs[0], key, one), value(run, key, one)]; return a === null || b === null ? null : b - a; };
  const flip = (key) => new Set(runs.map((run) => value(run, key)).filter((one) => one !== null)).size > 1;

  function means() {
    const row = (title, of) => [title, ...runs.map(of)];
    const mean = (values) => values.length ? values.reduce((a, b) => a + b, 0) / values.length : null;
    const cell = (run, one) => { const found = run.metrics.find((other) => other.name === one); return found ? h("span", {}, figure(found.mean), " ", between(found.ci95)) : "-"; };
    const difference = (run, one) => {
      if (runs[0].metrics.find((other) => other.name === one).estimator === "ratio") return null;  // needs sums that columns lack; aiq compare has them
      return mean(common.map((key) => change(run, key, one)).filter((found) => found !== null));
    };
    const none = others.map(() => "");
    return plain(["", ...runs.map((run) => run.letter), ...others.map((run) => `${run.letter} - A, same samples`)], [
      ...metrics.map((one) => [...row(one, (run) => cell(run, one)), ...others.map((run) => signed(difference(run, one)))]),
      [...row("samples", (run) => run.samples), ...others.map(() => common.length === runs[0].at.size ? "all" : `${common.length} attempts in common`)],
      [...row("failed attempts", (run) => run.failed), ...none], [...row("cost", (run) => dollars(run.cost)), ...none], [...row("tokens", (run) => run.tokens), ...none],
    ], "means");
  }
  const signed = (found) => found === null ? "-" : h("span", { title: String(found) }, `${found > 0 ? "+" : ""}${rounded(found)}`);

  const difference = h("section", { "aria-label": "difference of two reports", tabindex: "-1" });
  async function open(key) {
    const found = await Promise.all(runs.map(async (run) => (await load(`${run.path}/site/samples-${run.columns.texts[run.at.get(key)]}.js`)).find((one) => `${one.id}.${one.epoch}` === key)));
    const first = found[0];
    difference.replaceChildren(h("h2", {}, `Sample ${nameOf(key)}`), h("p", {}, first.question),
      first.gold?.answers.length ? h("p", {}, h("b", {}, "Gold: "), first.gold.answers.join(" / ")) : null,
      h("div", { class: "side" }, runs.map((run, place) => h("section", {}, h("h3", {}, h("a", { href: `${run.path}/index.html#${encodeURIComponent(key)}` }, `${run.letter}: ${run.run_id}`), " ", figure(value(run, key))),
        found[place].report === null ? h("p", { class: "problem" }, found[place].error ?? "no report") : h("div", { class: "report" }, prose(found[place].report))))),
      ...others.flatMap((run, place) => [h("h3", {}, `What ${run.letter} changed of A`), h("p", { class: "words diff" }, changes(sentences(first.report), sentences(found[place + 1].report)))]));
    difference.focus();
    difference.scrollIntoView();
  }

  const sentences = (report) => spoken(report ?? "").split(/(?<=[.!?\u3002]\s|\n)/).filter((part) => part.trim());
  /** The parts of both texts in order: kept, taken out (del) and put in (ins), by the longest common subsequence. */
  function changes(a, b) {
    if (a.length > MOST_PARTS || b.length > MOST_PARTS) return [h("span", { class: "soft" }, "too long to compare")];
    const best = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
    for (let i = a.length - 1; i >= 0; i--) for (let j = b.length - 1; j >= 0; j--)
      best[i][j] = a[i] === b[j] ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
    const parts = [];
    let i = 0, j = 0;
    while (i < a.length || j < b.length) {
      if (i < a.length && j < b.length && a[i] === b[j]) { parts.push(a[i]); i++; j++; }
      else if (j >= b.length || (i < a.length && best[i + 1][j] >= best[i][j + 1])) parts.push(h("del", {}, a[i++]));
      else parts.push(h("ins", {}, b[j++]));
    }
    return parts.some((part) => typeof part !== "string") ? parts : [h("span", { class: "soft" }, "nothing")];
  }

  const nameOf = (key) => runs.every((run) => run.epochs === 1) ? key.replace(/\.1$/, "") : key;
  const question = (key) => asked(runs[0], key);
  function samples() {
    const changed = { name: "changed", text: true, value: (key) => flip(key) ? "yes" : "no", cell: (key) => flip(key) ? h("span", { class: "key duplicate" }, "changed") : "" };
    const several = runs.length > 2;  // with two, the difference shows it
    const falls = runs[0].metrics.find((one) => one.name === metric)?.higher === false;  // lower is better
    const grade = (found) => !found ? "" : (found > 0) === falls ? "low" : "high";
    return sortable({
      label: "samples", rows: common, said: (key) => `${key} ${question(key)}`.toLowerCase(),
      quick: [["changed", "changed = yes"], ...others.flatMap((run) => [[`${run.letter} worse`, `${run.letter}-A ${falls ? ">" : "<"} 0`], [`${run.letter} better`, `${run.letter}-A ${falls ? "<" : ">"} 0`]])],
      columns: [
        { name: "sample", text: true, value: (key) => runs[0].at.get(key), filtered: nameOf, cell: (key) => h("a", { href: "#", onclick: (event) => { event.preventDefault(); open(key); } }, nameOf(key)) },
        { name: "question", text: true, value: question, cell: (key) => h("span", { class: "question" }, question(key)) },
        ...runs.map((run) => ({ name: run.letter, value: (key) => value(run, key), cell: (key) => figure(value(run, key)) })),
        ...others.map((run) => ({ name: `${run.letter}-A`, value: (key) => change(run, key), cell: (key) => h("span", { class: `score ${grade(change(run, key))}` }, signed(change(run, key))) })),
        ...several ? [changed] : [],
      ],
      more: several ? [] : [changed],
    });
  }

  const place = h("div");
  const show = () => { table = samples(); place.replaceChildren(table.element); };
  const choice = h("select", { id: "metric", onchange: (event) => { metric = event.target.value; show(); } }, metrics.map((one) => h("option", { value: one, selected: one === metric }, one)));
  main.append(h("h1", {}, "Compare runs"),
    h("ul", { class: "plain" }, runs.map((run) => h("li", {}, h("b", {}, `${run.letter}: `), h("a", { href: `${run.path}/index.html` }, name(`${run.experiment} ${run.run_id}`)), h("span", { class: "soft" }, ` ${run.agent}, ${run.model}, ${run.overrides.filter((one) => !one.startsWith("output_dir=")).join(" ")}`)))),
    h("h2", {}, "Means"), means(), h("p", { class: "soft" }, "These do not show whether a difference is more than chance; this does, with intervals and corrected tests:"),
    command("copy", `aiq compare ${runs.map((run) => run.path).join(" ")}`),
    h("h2", {}, "Samples"), metrics.length ? h("p", {}, h("label", { for: "metric" }, "by "), choice) : null, place, difference);
  show();
})();
