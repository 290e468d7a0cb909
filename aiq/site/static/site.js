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
    const copied = (node) => {
      if (node.nodeType === Node.TEXT_NODE) return node.textContent;
      if (node.nodeType !== Node.ELEMENT_NODE || !ALLOWED.has(node.tagName)) return null;
      const children = [...node.childNodes].map(copied);
      const href = node.tagName === "A" ? node.getAttribute("href") ?? "" : "";
      if (href.startsWith("#c") && citation) return citation(Number(href.slice(2)), node.className, children);
      const level = /^H[1-6]$/.test(node.tagName) ? `h${Math.min(6, Number(node.tagName[1]) + 2)}` : node.tagName;
      return h(level, { class: node.className || null, start: node.getAttribute("start"), ...outside(href) }, children);
    };
    const parsed = new DOMParser().parseFromString(html, "text/html");
    return [...parsed.body.childNodes].map(copied);
  }

  /** The text of a report, without its list of references. */
  function spoken(html) {
    const whole = h("div", {}, prose(html));
    for (const list of whole.querySelectorAll(".entries")) list.remove();
    return whole.textContent;
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
    const watcher = new IntersectionObserver((found) => found.some((one) => one.isIntersecting) && once(), { rootMargin: "300px" });
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
  const figure = (value, before = "") =>
    typeof value === "number" ? h("span", { title: String(value), class: "figure" }, before + rounded(value)) : h("span", { class: "soft" }, "-");
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
      const done = document.execCommand("copy");  // navigator.clipboard asks for permission on a page from disk
      area.remove();
      button.focus();
      button.textContent = done ? "copied" : "press Ctrl+C";
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
      if (value.some((one) => one === null || typeof one !== "object" || Array.isArray(one)))
        return h("ul", {}, value.map((one) => h("li", {}, readable(one))));
      if (value.length === 1) return readable(value[0]);
      const keys = [...new Set(value.flatMap((one) => Object.keys(one)))];
      return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "table" }, h("table", { class: "left" },
        h("thead", {}, h("tr", {}, keys.map((key) => h("th", { scope: "col" }, words(key))))),
        h("tbody", {}, value.map((one) => h("tr", {}, keys.map((key) => h("td", {}, readable(one[key]))))))));
    }
    const entries = Object.entries(value);
    if (!entries.length) return h("span", { class: "soft" }, "none");
    return h("dl", { class: "terms" }, entries.map(([key, one]) => h("div", {}, h("dt", {}, words(key)), h("dd", {}, readable(one)))));
  }
  const words = (key) => key.replaceAll("_", " ");

  /**
   * What a filter asks for: words or "phrases" that a row's text must have, and comparisons such as
   * `fresheval.relaxed = 0`; and the names in comparisons that no column has.
   */
  function filter(text, columns) {
    const tests = [], unknown = [];
    const known = new Map(columns.map((column) => [column.name.toLowerCase(), column]));
    const rest = text.replace(/([\w.@^/-]+)\s*(!=|<=|>=|==?|<|>)\s*("[^"]*"|\S+)/g, (whole, field, sign, wanted) => {
      const column = known.get(field.toLowerCase());
      if (!column) { unknown.push(field); return ""; }
      const plain = wanted.replaceAll('"', "").toLowerCase();
      const numeric = (said) => said === "" ? NaN : Number(said), number = numeric(plain.replace(/^\$|,(?=\d{3})/g, ""));
      tests.push((row) => [column.filtered ? column.filtered(row) : column.value(row)].flat().some((value) => {
        if (value === null || value === undefined) return sign === "!=" ? plain !== "none" : sign.startsWith("=") && plain === "none";
        const [a, b] = Number.isNaN(number) || Number.isNaN(numeric(value)) ? [String(value).toLowerCase(), plain] : [numeric(value), number];
        return { "=": a === b, "==": a === b, "!=": a !== b, "<": a < b, ">": a > b, "<=": a <= b, ">=": a >= b }[sign];
      }));
      return "";
    });
    const needed = (rest.toLowerCase().match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ""));
    const keep = (row, said) => tests.every((test) => test(row)) && (!needed.length || needed.every((word) => said(row).includes(word)));
    return { keep, unknown };
  }

  const STEP = 100;

  /**
   * A table that sorts, filters and grows as one scrolls; narrow windows show a card for each row.
   *
   * `columns`: {name, title, value(row), cell(row), text (flush left)}; `said(row)`: its words, in lower case;
   * `decorate(row, element)`: what else a row's element gets; `sort`: [name, descending]; `quick`: filters at hand, as
   * [title, text]; `more`: columns that are not shown and can be filtered by.
   */
  function sortable({ columns, rows, label, said, decorate = () => {}, sort = null, quick = [], more: unseen = [] }) {
    let order = sort, shown = [], drawn = 0;
    const input = h("input", { type: "search", class: "filter", "aria-label": `filter ${label}`, autocomplete: "off", spellcheck: "false",
      placeholder: "words, or e.g. status = failed", oninput: () => apply() });
    const count = h("span", { class: "soft", role: "status" });
    const body = h("tbody");
    const head = h("tr", {}, columns.map((column) => h("th", { scope: "col", class: column.text ? "text" : null, "data-name": column.name },
      column.value ? h("button", { type: "button", title: column.name, onclick: () => sortBy(column.name) }, column.title ?? name(column.name)) : column.title)));
    const more = h("button", { type: "button", class: "more", onclick: () => draw(shown.length) });
    const chips = h("div", { class: "quick", role: "group", "aria-label": "filters" });
    const watcher = new IntersectionObserver((found) => found.some((one) => one.isIntersecting) && drawn < shown.length && draw(STEP));
    const order_ = h("select", { class: "order", "aria-label": "sort by", onchange: (event) => { const [by, down] = event.target.value.split(" "); sortBy(by, down === "down"); } },
      h("option", { value: "" }, "as listed"),
      columns.filter((one) => one.value).flatMap((one) => ["up", "down"].map((way) => h("option", { value: `${one.name} ${way}` }, `${one.name} ${way === "up" ? "\u2191" : "\u2193"}`))));
    const element = h("div", { class: "sortable" },
      h("div", { class: "tools" }, input, order_, count, chips),
      h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `table of ${label}` },
        h("table", { class: "cards" }, h("thead", {}, head), body)), more);

    function sortBy(by, descending = null) {
      if (!by) order = null;
      else order = [by, descending ?? (order?.[0] === by ? !order[1] : !columns.find((one) => one.name === by).text)];
      apply();
    }

    function apply() {
      const { keep, unknown } = filter(input.value, [...columns.filter((one) => one.value), ...unseen]);
      shown = unknown.length ? [] : rows.filter((row) => keep(row, said));
      if (order) {
        const column = columns.find((one) => one.name === order[0]), way = order[1] ? -1 : 1;
        const keyed = shown.map((row) => [column.value(row), row]);
        keyed.sort(([a], [b]) => {
          if (a === b) return 0;
          if (a === null || a === undefined) return 1;
          if (b === null || b === undefined) return -1;
          return (a < b ? -1 : 1) * way;
        });
        shown = keyed.map(([, row]) => row);
      }
      for (const cell of head.children) {
        const own = order?.[0] === cell.dataset.name;
        if (own) cell.setAttribute("aria-sort", order[1] ? "descending" : "ascending");
        else cell.removeAttribute("aria-sort");
      }
      order_.value = order ? `${order[0]} ${order[1] ? "down" : "up"}` : "";
      const all = `${rows.length.toLocaleString("en")} ${rows.length === 1 ? label.replace(/s$/, "") : label}`;
      count.textContent = unknown.length ? `there is no column ${unknown.join(", ")}` : shown.length === rows.length ? all : `${shown.length.toLocaleString("en")} of ${all}`;
      for (const button of chips.children) button.setAttribute("aria-pressed", String(button.value === input.value));
      body.replaceChildren();
      drawn = 0;
      draw(STEP);
    }

    function draw(number) {
      const next = shown.slice(drawn, drawn + number);
      body.append(...next.map((row) => {
        const line = h("tr", {}, columns.map((column) =>
          h("td", { class: column.text ? "text" : null, "data-label": column.title && typeof column.title === "string" ? column.title : column.name }, column.cell ? column.cell(row) : String(column.value(row) ?? "-"))));
        decorate(row, line);
        return line;
      }));
      drawn += next.length;
      more.hidden = drawn >= shown.length;
      more.textContent = `show all ${shown.length.toLocaleString("en")}`;
      if (!shown.length) body.append(h("tr", { class: "none" }, h("td", { colspan: String(columns.length) }, "nothing matches the filter")));
    }

    function setQuick(given) {
      chips.replaceChildren(...given.map(([title, text]) => h("button", { type: "button", value: text, "aria-pressed": "false", onclick: () => {
        input.value = input.value === text ? "" : text;
        apply();
      } }, title)));
    }

    setQuick(quick);
    watcher.observe(more);
    addEventListener("beforeprint", () => drawn < shown.length && draw(shown.length));
    apply();
    return {
      element, input, sortBy,
      get shown() { return shown; },
      set(text) { input.value = text; apply(); },
      replace(given, chipsNow = quick) { rows = given; setQuick(chipsNow); apply(); },
      /** Move the focus by lines. */
      step(by) {
        const links = [...body.querySelectorAll("tr")].map((line) => line.querySelector("a[href]")).filter(Boolean);
        const at = links.findIndex((one) => one.closest("tr") === document.activeElement.closest?.("tr"));
        links[Math.max(0, Math.min(links.length - 1, at + by))]?.focus();
      },
    };
  }

  /** Keys of the page: {key: [meaning, action]}; `?` shows them all, `/` focuses the filter. */
  function keys(given) {
    const all = { "/": ["filter", () => [...document.querySelectorAll("input.filter")].find((one) => one.checkVisibility())?.focus()], ...given };
    const dialog = h("dialog", { class: "keys", "aria-labelledby": "keys-title" },
      h("h2", { id: "keys-title" }, "Keys"),
      h("dl", { class: "terms" }, Object.entries({ ...all, "?": ["this list"] }).map(([key, [meaning]]) => h("div", {}, h("dt", {}, h("kbd", {}, key)), h("dd", {}, meaning)))),
      h("form", { method: "dialog" }, h("button", {}, "Close")));
    document.body.append(dialog);
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || dialog.open) return;
      if (event.target.matches("input, textarea, select")) {
        if (event.key === "Escape") { event.target.blur(); event.preventDefault(); }
        return;
      }
      if (event.key === "?") dialog.showModal();
      else if (all[event.key]) all[event.key][1]();
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
    const known = values.filter((value) => typeof value === "number");
    if (known.length < 2) return null;
    const [low, high] = [Math.min(...known), Math.max(...known)];
    const at = (value, place) => `${(2 + 96 * place / (known.length - 1)).toFixed(1)},${(22 - 20 * (high > low ? (value - low) / (high - low) : 0.5)).toFixed(1)}`;
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    for (const [key, value] of Object.entries({ viewBox: "0 0 100 24", class: "sparkline", role: "img", "aria-label": label })) svg.setAttribute(key, value);
    const line = document.createElementNS(svg.namespaceURI, "polyline");
    line.setAttribute("points", known.map(at).join(" "));
    const dot = document.createElementNS(svg.namespaceURI, "circle");
    const [x, y] = at(known.at(-1), known.length - 1).split(",");
    for (const [key, value] of Object.entries({ cx: x, cy: y, r: 2.5 })) dot.setAttribute(key, value);
    svg.append(line, dot);
    return svg;
  }

  addEventListener("unhandledrejection", ({ reason }) => document.body.append(h("p", { class: "banner problem", role: "alert" },
    `This page could not be shown (${reason.message}). Another version of aiq may have written it; aiq site rewrites it.`)));

  return { root, live, load, whenSeen, h, prose, link, spoken, rounded, figure, dollars, between, duration, moment, name, chip, facts, command, plain, readable, words, sortable, keys, top, sparkline };
})();
