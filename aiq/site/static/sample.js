// One attempt: question, report with its citations, gold answer, scores with reasons, sources, timeline. Part of aiq.
"use strict";

const sample = (() => {
  const { h, prose, reportText, link, figure, dollars, duration, chip, facts, command, readable, name, rounded } = site;
  const OUTCOMES = { unchecked: "not checked" };

  /** `address(part)`: the link to a part of this page, such as `c3` (a citation), `e12` (an event), `j2` (a judge's event). */
  function page(attempt, run, address, timeline) {
    const panel = h("section", { class: "panel", "aria-label": "citation", hidden: true, tabindex: "-1" });
    const report = h("div", { class: "report" });
    const write = (delivered) => report.replaceChildren(...prose(delivered ? attempt.delivered : attempt.report, (number, outcome, children) =>
      h("a", { class: outcome, href: address(`c${number}`), "data-cite": String(number), title: OUTCOMES[outcome] ?? outcome.replace("cite ", "") }, children)));
    if (attempt.report !== null) write(false);
    const counts = {};
    for (const citation of attempt.cited) counts[citation.outcome] = (counts[citation.outcome] ?? 0) + 1;
    const lines = h("div", { class: "timelines" });

    const element = h("article", { class: "sample" },
      h("header", {},
        h("p", { class: "soft" }, `sample ${attempt.id}`, run.epochs > 1 ? `, epoch ${attempt.epoch} of ${run.epochs}` : null),
        attempt.turns.map(([question, html, route], place) => h("details", { class: "turn" },
          h("summary", {}, `turn ${place + 1}: ${question}`), h("div", { class: "report" }, prose(html)), h("p", { class: "soft" }, route))),
        h("h1", { tabindex: "-1" }, attempt.question),
        h("p", {}, chip(attempt.status), attempt.outcome && attempt.outcome !== "ok" ? chip(attempt.outcome) : null, attempt.citation_status ? chip(attempt.citation_status) : null,
          ...Object.entries(attempt.tags).map(([tag, value]) => h("span", { class: "chip tag" }, `${tag}: ${value}`))),
        facts([["route", attempt.route], ["time", duration(attempt.seconds)], ["spent", attempt.spent],
          ["attempt", attempt.attempt > 1 ? attempt.attempt : null], ["denied by web.deny", attempt.denied || null]]),
        attempt.error ? h("p", { class: "banner problem" }, attempt.error) : null,
        attempt.status === "limit" && attempt.report !== null ? h("p", { class: "banner" }, "Cut off, and judged by what there was.") : null),
      h("div", { class: "columns" },
        h("section", { "aria-labelledby": "report" },
          h("h2", { id: "report" }, "Report"),
          attempt.report === null ? h("p", { class: "soft" }, "There is none.") : null,
          attempt.cited.length ? h("p", { class: "legend" }, `${attempt.cited.length} ${attempt.cited.length === 1 ? "citation" : "citations"}: `, Object.entries(counts).map(([outcome, n]) => [h("span", { class: `key ${outcome}` }, `${n} ${OUTCOMES[outcome] ?? outcome}`), " "])) : null,
          attempt.delivered !== null ? h("p", { class: "soft" }, "As the model wrote it; what verification removed is struck through. ",
            h("label", {}, h("input", { type: "checkbox", onchange: (event) => write(event.target.checked) }), " as it was delivered")) : null,
          report,
          attempt.writer !== null && attempt.report !== null ? h("p", {}, h("a", { class: "writer", href: address(`e${attempt.writer}`) }, "The model call that wrote it")) : null),
        h("aside", {}, panel, goldSection(attempt.gold, run), scores(attempt))),
      sources(attempt, address),
      h("section", { "aria-labelledby": "timeline" }, h("h2", { id: "timeline" }, "What happened"), lines),
      h("section", { "aria-labelledby": "again" }, h("h2", { id: "again" }, "Run it again"), command("copy", attempt.again)));

    let drawing = null;
    const draw = () => drawing ??= timeline().then((events) => {
      lines.replaceChildren(...[["agent", "e", "Agent"], ["judge", "j", "Judges"]].filter(([actor]) => events[actor].events.length)
        .map(([actor, letter, title]) => timelineOf(events[actor], letter, title, address)));
      if (!lines.childElementCount) lines.append(h("p", { class: "soft" }, "No events were recorded."));
    });
    site.whenSeen(lines, draw);

    /** Open it and all that it is within. */
    function reveal(details, block) {
      for (let ancestor = details; ancestor; ancestor = ancestor.parentElement.closest("details")) ancestor.open = true;
      details.scrollIntoView({ block });
      details.querySelector("summary").focus({ preventScroll: true });
    }

    /** Bring a part into view, and the focus to it. */
    async function show(part) {
      for (const cite of report.querySelectorAll("[aria-current]")) cite.removeAttribute("aria-current");
      const number = Number(part?.slice(1));
      if (part?.startsWith("c") && attempt.cited[number]) {
        const cite = report.querySelector(`[data-cite="${number}"]`);
        cite?.setAttribute("aria-current", "true");
        cite?.scrollIntoView({ block: "nearest" });
        panel.replaceChildren(...citationPanel(attempt, attempt.cited[number], number, address));
        panel.hidden = false;
        panel.focus({ preventScroll: true });
        panel.scrollIntoView({ block: "nearest" });
      } else {
        panel.hidden = true;
        if (/^[ej]\d+$/.test(part ?? "")) {
          await draw();
          const event = lines.querySelector(`[data-part="${part}"]`);
          if (!event) return;
          reveal(event, "start");
        } else if (/^s\d+$/.test(part ?? "")) {
          reveal(element.querySelector(`[data-source="${number}"]`), "center");
        } else {
          element.querySelector("h1").focus({ preventScroll: true });
        }
      }
    }
    return { element, show };
  }

  function citationPanel(attempt, citation, number, address) {
    return [
      h("div", { class: "head" }, h("h2", {}, `Citation ${citation.shown}`), h("a", { class: "button", href: address(""), "aria-label": "close the citation" }, "Close")),
      citation.targets.map((target) => {
        const source = attempt.sources[target.source];
        return h("div", { class: `target ${target.outcome}` },
          h("p", {}, h("b", {}, target.label, " "), h("span", { class: `key ${target.outcome}` }, OUTCOMES[target.outcome] ?? target.outcome), " ",
            target.cause !== target.outcome ? `${target.cause.replaceAll("_", " ")}: ${target.why}` : target.why),
          target.flags.map((flag) => h("p", { class: "problem" }, flag)),
          source ? h("p", {}, h("b", {}, source.title), " ", link(source.address)) : target.target ? h("p", {}, link(target.target)) : null,
          source ? h("p", { class: "steps" }, h("a", { href: address(`s${target.source}`) }, "The source"), source.event !== null ? h("a", { href: address(`e${source.event}`) }, "The tool call that returned it") : null) : null);
      }),
      citation.passages.map((passage) => [
        h("h3", {}, `${passage.label} closest passage in the source`),
        h("p", { class: "soft" }, "to: ", h("q", {}, passage.said)),
        passage.found ? h("blockquote", { class: "passage" }, h("span", { class: "soft" }, passage.found.before),
          passage.found.parts.map((text, place) => place % 2 ? h("mark", {}, text) : text), h("span", { class: "soft" }, passage.found.after))
          : h("p", { class: "soft" }, "None: it shares no word with the sentence, or no text of it was kept.")]),
      attempt.writer !== null ? h("p", { class: "steps" }, h("a", { class: "writer", href: address(`e${attempt.writer}`) }, "The model call that wrote the report")) : null,
      h("p", { class: "steps" }, number > 0 ? h("a", { href: address(`c${number - 1}`) }, "Previous citation") : null,
        number + 1 < attempt.cited.length ? h("a", { href: address(`c${number + 1}`) }, "Next citation") : null),
    ].flat(Infinity).filter(Boolean);
  }

  function goldSection(gold, run) {
    if (!gold) return h("section", { "aria-labelledby": "gold" }, h("h2", { id: "gold" }, "Gold answer"), h("p", { class: "soft" }, run.gold || "The dataset no longer has this sample."));
    const isEmpty = !gold.answers.length && !gold.reference && !gold.criteria && !gold.facts.length;
    return h("section", { "aria-labelledby": "gold" }, h("h2", { id: "gold" }, gold.answers.length || isEmpty ? "Gold answer" : "Judged against"),
      gold.other ? h("p", { class: "banner" }, "The question has changed in the dataset since the run.") : run.gold ? h("p", { class: "soft" }, run.gold) : null,
      isEmpty ? h("p", { class: "soft" }, "The dataset has none.") : null,
      gold.answers.length ? h("ul", { class: "answers" }, gold.answers.map((answer) => h("li", {}, answer))) : null,
      gold.facts.length ? h("details", {}, h("summary", {}, `${gold.facts.length} needed ${gold.facts.length === 1 ? "fact" : "facts"}`), h("dl", { class: "terms" }, gold.facts.map(([id, forms]) => h("div", {}, h("dt", {}, name(id)), h("dd", {}, forms))))) : null,
      gold.criteria ? h("details", {}, h("summary", {}, "Criteria"), gold.criteria.map(([dimension, weight, criteria]) => [
        h("h3", {}, dimension.replaceAll("_", " "), weight === null ? "" : ` (${rounded(weight)})`),
        h("ul", {}, criteria.map(([criterion, why, ownWeight]) => h("li", {}, h("b", {}, criterion), ` (${rounded(ownWeight)}) `, h("span", { class: "soft" }, why))))])) : null,
      gold.reference ? h("details", {}, h("summary", {}, "Reference report"), h("div", { class: "report" }, prose(gold.reference))) : null);
  }

  function scores(attempt) {
    const judges = new Map();
    for (const score of attempt.scores) judges.set(score.judge, [...judges.get(score.judge) ?? [], score]);
    return h("section", { "aria-labelledby": "scores" }, h("h2", { id: "scores" }, "Scores"), attempt.scores.length ? null : h("p", { class: "soft" }, "None."),
      [...judges].map(([judge, judgeScores]) => h("div", { class: "judge" },
        h("h3", {}, judge, judgeScores[0].model ? ` by ${judgeScores[0].model}` : ""),
        h("table", { class: "scores" }, h("tbody", {}, judgeScores.map((score) => h("tr", { class: score.status === "error" ? "bad" : null },
          h("th", { scope: "row" }, name(score.metric)),
          h("td", {}, score.value !== null ? h("b", {}, figure(score.value)) : chip(score.status),
            score.ratio ? h("span", { class: "soft" }, ` ${rounded(score.ratio[0])} of ${rounded(score.ratio[1])}`) : null,
            score.status === "agent_failed" ? h("span", { class: "soft" }, " the agent failed") : null,
            score.why ? h("span", { class: score.status === "error" ? "problem" : "soft" }, ` ${score.why}`) : null))))),
        reasons(judgeScores))));
  }

  /** The judges' own words. */
  const verdicts = (scores) => scores.flatMap((score) => (score.detail.judgements ?? []).map((judgement) => judgement.answer ?? judgement.reason).filter((text) => typeof text === "string"));

  /** What a table has room for: how the answer begins, the gold answer, why the judge scored it so. */
  function brief(attempt) {
    const cut = (text) => text.length > 150 ? `${text.slice(0, 150)}\u2026` : text;
    return h("dl", { class: "terms brief" }, [["answer", attempt.report === null ? attempt.error ?? "none" : reportText(attempt.report).trim()],
      ["gold", attempt.gold?.answers.join(" / ")], ["judge", verdicts(attempt.scores).join("\n")]]
      .filter(([, text]) => text).map(([term, text]) => h("div", {}, h("dt", {}, term), h("dd", { class: "words" }, cut(text)))));
  }

  /** What a judge said, first in its own words, then all that it noted. */
  function reasons(scores) {
    const details = scores.map((score) => score.detail).filter((detail) => Object.keys(detail).length);
    return [verdicts(scores).map((text) => h("blockquote", { class: "reason" }, text)),
      details.length ? h("details", {}, h("summary", {}, "What it noted"), details.map(readable)) : null];
  }

  function sources(attempt) {
    const cited = new Set(attempt.cited.flatMap((citation) => citation.targets.map((target) => target.source)));
    const rows = attempt.sources.map((source, place) => h("details", { class: "source", "data-source": String(place) },
        h("summary", {}, source.title || source.address),
        h("div", { class: "inside" }, h("p", {}, link(source.address)), h("p", { class: "soft" }, [source.published, source.tool].filter(Boolean).join(", ")),
          h("p", { class: "long" }, source.text, source.more ? h("span", { class: "soft" }, ` \u2026 ${rounded(source.more)} more characters in the tool's result`) : null))));
    const [used, uncited] = [true, false].map((isCited) => rows.filter((_, place) => cited.has(place) === isCited));
    return h("section", { "aria-labelledby": "sources" }, h("h2", { id: "sources" }, `Sources: ${used.length} cited of ${rows.length} found`), used,
      uncited.length ? h("details", {}, h("summary", {}, `${uncited.length} not cited`), h("div", { class: "inside" }, uncited)) : null);
  }

  function timelineOf({ texts, events }, letter, title, address) {
    const end = Math.max(0.001, ...events.map((event) => event.at + (event.kind === "model" ? 0 : event.seconds ?? 0)));
    const lists = new Map();
    const outer = h("ol", { class: "timeline" });
    events.forEach((event, place) => {
      const id = letter === "e" ? event.seq : place;
      const line = h("li", { class: event.kind }, eventElement(event, `${letter}${id}`, texts, end, address));
      ((event.parent !== null && lists.get(event.parent)) || outer).append(line);
      if (event.kind === "tool" || event.kind === "agent") {
        const sublist = h("ol", { class: "timeline within" });
        line.append(sublist);
        lists.set(event.seq, sublist);
      }
    });
    for (const list of lists.values()) if (!list.childElementCount) list.remove();
    return h("section", {}, h("h3", {}, title), outer);
  }

  function eventElement(event, part, texts, end, address) {
    const seconds = event.seconds;
    const bar = h("span", { class: "span", "aria-hidden": "true" });
    if (seconds) {  // a model call is logged when it ends, a tool or an agent when it begins
      const begin = event.kind === "model" ? Math.max(0, event.at - seconds) : event.at;
      const mark = h("i");
      mark.style.left = `${100 * begin / end}%`;
      mark.style.width = `${Math.min(100 - 100 * begin / end, 100 * seconds / end)}%`;
      bar.append(mark);
    }
    const textAt = (place) => place === null || place === undefined ? null : texts[place][1];
    const firstWords = { tool: () => Object.values(event.arguments ?? {}).map((argument) => typeof argument === "string" ? argument : JSON.stringify(argument)).join(" "),
      model: () => textAt(event.reply) ?? "", stage: () => textAt(event.text) ?? "", decision: () => event.cause ?? "", round: () => (event.queries ?? []).join("; ") };
    const element = h("details", { "data-part": part, class: event.error ? "bad" : null, ontoggle: () => fill() },
      h("summary", {}, h("span", { class: "soft at" }, `${event.at.toFixed(1)} s`), h("span", { class: "kind" }, event.kind.replace("_", " ")),
        h("b", {}, event.title), h("span", { class: "soft said" }, (firstWords[event.kind]?.() ?? textAt(event.text) ?? "").slice(0, 160)),
        h("span", { class: "soft numbers", title: "seconds, tokens in and out" }, seconds !== null && seconds !== undefined ? `${seconds.toFixed(2)} s` : "", event.input !== undefined && event.input !== null ? ` ${rounded(event.input)} in, ${rounded(event.output)} out` : "",
          event.again ? ` send ${event.again + 1}` : "", event.error ? " error" : ""), bar));
    let filled = false;
    function fill() {
      if (filled || !element.open) return;
      filled = true;
      element.append(h("div", { class: "inside" }, eventBody(event, texts, textAt), h("p", { class: "steps" }, h("a", { href: address(part) }, "link to this"))));
    }
    return element;
  }

  function eventBody(event, texts, textAt) {
    if (event.kind === "model") {
      return [site.facts([["model", event.model], ["status", event.status], ["finish", event.finish], ["cost", dollars(event.cost)]]),
        event.error ? h("p", { class: "problem" }, event.error) : null,
        h("h4", {}, "Reply"), h("pre", {}, textAt(event.reply) ?? "none"),
        event.messages.map((place, number) => h("details", { class: "message" }, h("summary", {}, `message ${number + 1}, ${texts[place][0]}: `, h("span", { class: "soft" }, texts[place][1].slice(0, 120))), h("pre", {}, texts[place][1])))];
    }
    const content = textAt(event.text);
    return [Object.keys(event.arguments ?? {}).length ? readable(event.arguments) : null,
      event.queries ? readable({ queries: event.queries, "new sources": event.found, gaps: event.gaps }) : event.found?.length ? readable({ sources: event.found }) : null,
      event.cause ? h("p", {}, `because: ${event.cause}`) : null, event.answer ? h("p", {}, `answer: ${event.answer}`) : null,
      event.error ? h("p", { class: "problem" }, event.error) : null, content ? h("pre", {}, content) : null,
      event.output !== undefined ? [h("h4", {}, "Output"), h("pre", {}, textAt(event.output) ?? "none")] : null];
  }

  return { page, brief };
})();
