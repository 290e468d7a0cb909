// What all pages share: data scripts, elements, numbers, filters, tables, keys. Part of aiq.
"use strict";

/** What each line of a data script calls. */
function aiq(record) {
  (document.currentScript.records ??= []).push(record);
}

const site = (() => {
  const root = document.documentElement.dataset.root;
  const live = location.protocol.startsWith("http");
  const scripts = new Map();

  /** The records of a data script; `fresh`: fetched from the server again. */
  function load(path, fresh = false) {
    if (fresh) scripts.clear();  // what else was read may be as old
    if (!scripts.has(path)) {
      scripts.set(path, new Promise((resolve, reject) => {
        const script = document.createElement("script");
        script.src = fresh ? `${path}?${Date.now()}` : path;
        script.onload = () => { script.remove(); resolve(script.records ?? []); };
        script.onerror = () => { script.remove(); scripts.delete(path); reject(new Error(`${path} is missing`)); };
        document.head.append(script);
      }));
    }
    return scripts.get(path);
  }

  /** An element with attributes, listeners (`onclick`) and children; strings become text, never HTML. */
  function h(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes ?? {})) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
    return element;
  }

  const ALLOWED = new Set(("A B BLOCKQUOTE BR CODE DEL DIV EM H1 H2 H3 H4 H5 H6 HR LI OL P PRE SPAN STRONG TABLE TBODY TD "
    + "TH THEAD TR UL").split(" "));

  /** HTML that Python has made safe, copied element by element: nothing but text, structure, and links to the web. */
  function prose(html, citation = null) {
    const copy = (node) => {
      if (node.nodeType === Node.TEXT_NODE) return node.textContent;
      if (node.nodeType !== Node.ELEMENT_NODE || !ALLOWED.has(node.tagName)) return null;
      const children = [...node.childNodes].map(copy);
      const href = node.tagName === "A" ? node.getAttribute("href") ?? "" : "";
      if (href.startsWith("#c") && citation) return citation(Number(href.slice(2)), node.className, children);
      const tag = /^H[1-6]$/.test(node.tagName) ? `h${Math.min(6, Number(node.tagName[1]) + 2)}` : node.tagName;
      return h(tag, { class: node.className || null, start: node.getAttribute("start"), ...outside(href) }, children);
    };
    const parsed = new DOMParser().parseFromString(html, "text/html");
    return [...parsed.body.childNodes].map(copy);
  }

  /** The text of a report, without its list of references. */
  function reportText(html) {
    const report = h("div", {}, prose(html));
    for (const list of report.querySelectorAll(".entries")) list.remove();
    return report.textContent;
  }

  const outside = (url) => /^https?:\/\//i.test(url) ? { href: url, rel: "noopener noreferrer", target: "_blank" } : {};
  const link = (url) => /^https?:\/\//i.test(url) ? h("a", outside(url), url) : h("span", {}, url);

  /** Do it once: when the element comes near the window, or the page is printed. */
  function whenSeen(element, action) {
    const once = () => {
      if (!element.checkVisibility()) return;  // not printed: inside something closed
      watcher.disconnect();
      removeEventListener("beforeprint", once);
      action();
    };
    const watcher = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && once(), { rootMargin: "300px" });
    watcher.observe(element);
    addEventListener("beforeprint", once);
  }

  /** A number rounded for reading, as text. */
  function rounded(value) {
    if (value === null || value === undefined) return "-";
    if (typeof value !== "number") return String(value);
    const size = Math.abs(value);
    if (size >= 1000) return Math.round(value).toLocaleString("en");
    if (Number.isInteger(value)) return String(value);
    return size >= 100 ? value.toFixed(1) : size >= 0.01 ? value.toFixed(3) : String(Number(value.toPrecision(2)));
  }

  /** A number rounded for reading, with the exact one in its title. */
  const figure = (value, prefix = "") =>
    typeof value === "number" ? h("span", { title: String(value), class: "figure" }, prefix + rounded(value)) : h("span", { class: "soft" }, "-");
  const dollars = (value) => typeof value !== "number" ? h("span", { class: "soft", title: "no price" }, "-")
    : h("span", { title: String(value), class: "figure" }, `$${value >= 0.1 || value === 0 ? value.toFixed(2) : Number(value.toPrecision(2))}`);
  const between = (ci95) => ci95 ? h("span", { class: "soft range", title: `${ci95[0]} to ${ci95[1]}` }, ci95.map((end) => Math.abs(end) < 100 && !ci95.every(Number.isInteger) ? end.toFixed(3) : rounded(end)).join(" to ")) : null;
  const duration = (seconds) => typeof seconds !== "number" ? h("span", { class: "soft" }, "-")
    : h("span", { title: `${seconds} s`, class: "figure" },
      seconds < 100 ? `${seconds.toFixed(1)} s` : seconds < 6000 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`);
  const moment = (text) => text?.replace("T", " ").replace("+00:00", " UTC");
  /** A name that may break after its dots and underscores. */
  const name = (text) => String(text).split(/(?<=[._/])/).flatMap((part, place) => place ? [h("wbr"), part] : [part]);
  const chip = (text) => h("span", { class: `chip ${String(text).split(",")[0].replaceAll(" ", "_")}` }, text);
  const facts = (pairs) => h("dl", { class: "facts" }, pairs.filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([key, value]) => h("div", {}, h("dt", {}, key), h("dd", {}, value))));

  function copying(label, text) {
    const button = h("button", { type: "button", class: "copy", onclick: async () => {
      const area = h("textarea", { class: "hidden", "aria-hidden": "true" });
      area.value = text;
      document.body.append(area);
      area.select();
      const copied = document.execCommand("copy");  // navigator.clipboard asks for permission on a page from disk
      area.remove();
      button.focus();
      button.textContent = copied ? "copied" : "press Ctrl+C";
      setTimeout(() => { button.textContent = label; }, 1500);
    } }, label);
    return button;
  }
  const command = (label, text) => h("div", { class: "command" }, h("code", {}, text), copying(label, text));

  /** A table of plain cells. */
  function plain(headings, rows, label) {
    return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, h("table", { class: "cards" },
      h("thead", {}, h("tr", {}, headings.map((heading) => h("th", { scope: "col" }, heading)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell, place) =>
        h("td", { "data-label": place ? headings[place] : null }, typeof cell === "number" ? figure(cell) : place ? cell ?? "-" : h("span", {}, name(cell ?? "-")))))))));
  }

  /** JSON for people: records as lists of terms, lists of records as tables, texts as paragraphs. */
  function readable(value) {
    if (value === null || value === undefined || value === "") return h("span", { class: "soft" }, "none");
    if (typeof value === "number") return figure(value);
    if (typeof value !== "object") return h("span", { class: "words" }, String(value));
    if (Array.isArray(value)) {
      if (!value.length) return h("span", { class: "soft" }, "none");
      if (value.some((item) => item === null || typeof item !== "object" || Array.isArray(item)))
        return h("ul", {}, value.map((item) => h("li", {}, readable(item))));
      if (value.length === 1) return readable(value[0]);
      const keys = [...new Set(value.flatMap((record) => Object.keys(record)))];
      return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "table" }, h("table", { class: "left" },
        h("thead", {}, h("tr", {}, keys.map((key) => h("th", { scope: "col" }, words(key))))),
        h("tbody", {}, value.map((record) => h("tr", {}, keys.map((key) => h("td", {}, readable(record[key]))))))));
    }
    const entries = Object.entries(value);
    if (!entries.length) return h("span", { class: "soft" }, "none");
    return h("dl", { class: "terms" }, entries.map(([key, item]) => h("div", {}, h("dt", {}, words(key)), h("dd", {}, readable(item)))));
  }
  const words = (key) => key.replaceAll("_", " ");

  /**
   * What a filter asks for: words or "phrases" that a row's text must have, and comparisons such as
   * `fresheval.relaxed = 0`; and the names in comparisons that no column has.
   */
  function filter(text, columns) {
    const tests = [], unknown = [];
    const byName = new Map(columns.map((column) => [column.name.toLowerCase(), column]));
    const rest = text.replace(/([\w.@^/-]+)\s*(!=|<=|>=|==?|<|>)\s*("[^"]*"|\S+)/g, (match, field, sign, operand) => {
      const column = byName.get(field.toLowerCase());
      if (!column) { unknown.push(field); return ""; }
      const expected = operand.replaceAll('"', "").toLowerCase();
      const numeric = (raw) => raw === "" ? NaN : Number(raw), number = numeric(expected.replace(/^\$|,(?=\d{3})/g, ""));
      tests.push((row) => [column.filtered ? column.filtered(row) : column.value(row)].flat().some((value) => {
        if (value === null || value === undefined) return sign === "!=" ? expected !== "none" : sign.startsWith("=") && expected === "none";
        const [a, b] = Number.isNaN(number) || Number.isNaN(numeric(value)) ? [String(value).toLowerCase(), expected] : [numeric(value), number];
        return { "=": a === b, "==": a === b, "!=": a !== b, "<": a < b, ">": a > b, "<=": a <= b, ">=": a >= b }[sign];
      }));
      return "";
    });
    const terms = (rest.toLowerCase().match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ""));
    const keep = (row, wordsOf) => tests.every((test) => test(row)) && (!terms.length || terms.every((word) => wordsOf(row).includes(word)));
    return { keep, unknown };
  }

  const STEP = 100;

  /**
   * A table that sorts, filters and grows as one scrolls; narrow windows show a card for each row.
   *
   * `columns`: {name, title, value(row), cell(row), text (flush left)}; `wordsOf(row)`: its words, in lower case;
   * `decorate(row, element)`: what else a row's element gets; `sort`: [name, descending]; `quick`: filters at hand, as
   * [title, text]; `hidden`: columns that are not shown and can be filtered by.
   */
  function sortable({ columns, rows, label, wordsOf, decorate = () => {}, sort = null, quick = [], hidden = [] }) {
    let order = sort, matches = [], drawn = 0;
    const input = h("input", { type: "search", class: "filter", "aria-label": `filter ${label}`, autocomplete: "off", spellcheck: "false",
      placeholder: "words, or e.g. status = failed", oninput: () => apply() });
    const count = h("span", { class: "soft", role: "status" });
    const body = h("tbody");
    const head = h("tr", {}, columns.map((column) => h("th", { scope: "col", class: column.text ? "text" : null, "data-name": column.name },
      column.value ? h("button", { type: "button", title: column.name, onclick: () => sortBy(column.name) }, column.title ?? name(column.name)) : column.title)));
    const more = h("button", { type: "button", class: "more", onclick: () => draw(matches.length) });
    const chips = h("div", { class: "quick", role: "group", "aria-label": "filters" });
    const watcher = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && drawn < matches.length && draw(STEP));
    const orderSelect = h("select", { class: "order", "aria-label": "sort by", onchange: (event) => { const [field, direction] = event.target.value.split(" "); sortBy(field, direction === "down"); } },
      h("option", { value: "" }, "as listed"),
      columns.filter((column) => column.value).flatMap((column) => ["up", "down"].map((direction) => h("option", { value: `${column.name} ${direction}` }, `${column.name} ${direction === "up" ? "\u2191" : "\u2193"}`))));
    const element = h("div", { class: "sortable" },
      h("div", { class: "tools" }, input, orderSelect, count, chips),
      h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `table of ${label}` },
        h("table", { class: "cards" }, h("thead", {}, head), body)), more);

    function sortBy(field, descending = null) {
      if (!field) order = null;
      else order = [field, descending ?? (order?.[0] === field ? !order[1] : !columns.find((column) => column.name === field).text)];
      apply();
    }

    function apply() {
      const { keep, unknown } = filter(input.value, [...columns.filter((column) => column.value), ...hidden]);
      matches = unknown.length ? [] : rows.filter((row) => keep(row, wordsOf));
      if (order) {
        const column = columns.find((column) => column.name === order[0]), sign = order[1] ? -1 : 1;
        const keyed = matches.map((row) => [column.value(row), row]);
        keyed.sort(([a], [b]) => {
          if (a === b) return 0;
          if (a === null || a === undefined) return 1;
          if (b === null || b === undefined) return -1;
          return (a < b ? -1 : 1) * sign;
        });
        matches = keyed.map(([, row]) => row);
      }
      for (const cell of head.children) {
        const isSorted = order?.[0] === cell.dataset.name;
        if (isSorted) cell.setAttribute("aria-sort", order[1] ? "descending" : "ascending");
        else cell.removeAttribute("aria-sort");
      }
      orderSelect.value = order ? `${order[0]} ${order[1] ? "down" : "up"}` : "";
      const total = `${rows.length.toLocaleString("en")} ${rows.length === 1 ? label.replace(/s$/, "") : label}`;
      count.textContent = unknown.length ? `there is no column ${unknown.join(", ")}` : matches.length === rows.length ? total : `${matches.length.toLocaleString("en")} of ${total}`;
      for (const button of chips.children) button.setAttribute("aria-pressed", String(button.value === input.value));
      body.replaceChildren();
      drawn = 0;
      draw(STEP);
    }

    function draw(limit) {
      const batch = matches.slice(drawn, drawn + limit);
      body.append(...batch.map((row) => {
        const line = h("tr", {}, columns.map((column) =>
          h("td", { class: column.text ? "text" : null, "data-label": column.title && typeof column.title === "string" ? column.title : column.name }, column.cell ? column.cell(row) : String(column.value(row) ?? "-"))));
        decorate(row, line);
        return line;
      }));
      drawn += batch.length;
      more.hidden = drawn >= matches.length;
      more.textContent = `show all ${matches.length.toLocaleString("en")}`;
      if (!matches.length) body.append(h("tr", { class: "none" }, h("td", { colspan: String(columns.length) }, "nothing matches the filter")));
    }

    function setQuick(filters) {
      chips.replaceChildren(...filters.map(([title, text]) => h("button", { type: "button", value: text, "aria-pressed": "false", onclick: () => {
        input.value = input.value === text ? "" : text;
        apply();
      } }, title)));
    }

    setQuick(quick);
    watcher.observe(more);
    addEventListener("beforeprint", () => drawn < matches.length && draw(matches.length));
    apply();
    return {
      element, input, sortBy,
      get matches() { return matches; },
      set(text) { input.value = text; apply(); },
      replace(newRows, filters = quick) { rows = newRows; setQuick(filters); apply(); },
      /** Move the focus by lines. */
      step(offset) {
        const links = [...body.querySelectorAll("tr")].map((line) => line.querySelector("a[href]")).filter(Boolean);
        const current = links.findIndex((anchor) => anchor.closest("tr") === document.activeElement.closest?.("tr"));
        links[Math.max(0, Math.min(links.length - 1, current + offset))]?.focus();
      },
    };
  }

  /** Keys of the page: {key: [meaning, action]}; `?` shows them all, `/` focuses the filter. */
  function keys(pageKeys) {
    const bindings = { "/": ["filter", () => [...document.querySelectorAll("input.filter")].find((input) => input.checkVisibility())?.focus()], ...pageKeys };
    const dialog = h("dialog", { class: "keys", "aria-labelledby": "keys-title" },
      h("h2", { id: "keys-title" }, "Keys"),
      h("dl", { class: "terms" }, Object.entries({ ...bindings, "?": ["this list"] }).map(([key, [meaning]]) => h("div", {}, h("dt", {}, h("kbd", {}, key)), h("dd", {}, meaning)))),
      h("form", { method: "dialog" }, h("button", {}, "Close")));
    document.body.append(dialog);
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || dialog.open) return;
      if (event.target.matches("input, textarea, select")) {
        if (event.key === "Escape") { event.target.blur(); event.preventDefault(); }
        return;
      }
      if (event.key === "?") dialog.showModal();
      else if (bindings[event.key]) bindings[event.key][1]();
      else return;
      event.preventDefault();
    });
    return h("button", { type: "button", class: "quiet", title: "keys (?)", onclick: () => dialog.showModal() }, "Keys");
  }

  /** The line at the top of a page: where one is, as [text, address] from the outermost. */
  const top = (trail, ...tools) => h("nav", { class: "top", "aria-label": "pages" }, trail.map(([text, href], place) => [
    place ? h("span", { class: "soft", "aria-hidden": "true" }, "\u203a") : null,
    href ? h("a", { href }, text) : h("span", { "aria-current": place === trail.length - 1 ? "page" : null }, text)]), h("span", { class: "space" }), tools);

  /** Means along time as a small curve. */
  function sparkline(values, label) {
    const numbers = values.filter((value) => typeof value === "number");
    if (numbers.length < 2) return null;
    const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
    const point = (value, place) => `${(2 + 96 * place / (numbers.length - 1)).toFixed(1)},${(22 - 20 * (high > low ? (value - low) / (high - low) : 0.5)).toFixed(1)}`;
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    for (const [key, value] of Object.entries({ viewBox: "0 0 100 24", class: "sparkline", role: "img", "aria-label": label })) svg.setAttribute(key, value);
    const line = document.createElementNS(svg.namespaceURI, "polyline");
    line.setAttribute("points", numbers.map(point).join(" "));
    const dot = document.createElementNS(svg.namespaceURI, "circle");
    const [x, y] = point(numbers.at(-1), numbers.length - 1).split(",");
    for (const [key, value] of Object.entries({ cx: x, cy: y, r: 2.5 })) dot.setAttribute(key, value);
    svg.append(line, dot);
    return svg;
  }

  addEventListener("unhandledrejection", ({ reason }) => document.body.append(h("p", { class: "banner problem", role: "alert" },
    `This page could not be shown (${reason.message}). Another version of aiq may have written it; aiq site rewrites it.`)));

  return { root, live, load, whenSeen, h, prose, link, reportText, rounded, figure, dollars, between, duration, moment, name, chip, facts, command, plain, readable, words, sortable, keys, top, sparkline };
})();
