"use strict";
(() => {
  const data = JSON.parse(document.getElementById("rows-data").textContent);
  const [NUMBER, QUERY, UTILITY, SCORE, RANK, WRONG] = [0, 1, 2, 3, 4, 5];
  const chosen = { a: null, b: null };

  // Text is only ever set as text: nothing that comes from data is parsed as HTML.
  function make(name, attributes = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else if (value !== null && value !== undefined) element.setAttribute(key, value);
    }
    element.append(...children.map((each) => (each instanceof Node ? each : String(each))));
    return element;
  }

  const format = (value, digits = 4) =>
    value === null ? "–" : typeof value === "number" ? String(Number(value.toPrecision(digits))) : value;
  const signed = (value) => (value < 0 ? "−" : "+") + format(Math.abs(value), 3);
  const label = (row) => `row ${row[NUMBER].toLocaleString("en")}`;
  const lower = (text) => text.toLocaleLowerCase();

  // Tables that sort.
  function keyOf(row, column) {
    const cell = row.cells[column];
    const text = cell.dataset.value ?? cell.textContent.trim();
    const value = Number(text.replaceAll(",", "").replace("−", "-"));
    return text === "" || text === "–" ? null : Number.isNaN(value) ? lower(text) : value;
  }

  function compareKeys(a, b) {
    if (typeof a === "string" && typeof b === "string") return a.localeCompare(b, "en", { numeric: true });
    if (typeof a === typeof b) return a - b;
    return typeof a === "number" ? -1 : 1;
  }

  function sortBy(table, column) {
    const heads = table.tHead.rows[0].cells;
    const falling = heads[column].getAttribute("aria-sort") === "ascending";
    closeAll(table);
    const keyed = Array.from(table.tBodies[0].rows, (row) => [keyOf(row, column), row]);
    // What has no value stays at the end.
    keyed.sort(([a], [b]) =>
      a === null || b === null ? (a === null) - (b === null) : falling ? compareKeys(b, a) : compareKeys(a, b),
    );
    table.tBodies[0].append(...keyed.map(([, row]) => row));
    for (const head of heads) head.removeAttribute("aria-sort");
    heads[column].setAttribute("aria-sort", falling ? "descending" : "ascending");
  }

  function makeSortable(table) {
    Array.from(table.tHead.rows[0].cells).forEach((head, column) => {
      if (!head.textContent || head.dataset.fixed) return;
      const button = make("button", { type: "button", onclick: () => sortBy(table, column) }, head.textContent);
      head.replaceChildren(button);
    });
  }

  // Tables that filter.
  function makeFilter(table) {
    const found = make("output", { "aria-live": "polite" });
    const apply = () => {
      const wanted = lower(input.value.trim());
      closeAll(table);
      let count = 0;
      for (const row of table.tBodies[0].rows) {
        row.hidden = !lower(row.cells[0].textContent).includes(wanted);
        count += !row.hidden;
      }
      found.textContent = `${count} of ${table.tBodies[0].rows.length} shown`;
    };
    const input = make("input", { type: "search", autocomplete: "off", oninput: apply });
    const controls = make("div", { class: "controls" }, make("label", {}, `Filter by ${table.dataset.filter}`, input), found);
    table.parentElement.before(controls);
    apply();
  }

  // Rows of a query.
  function rowsTable(rows, caption) {
    const scored = ["utility", "score", "rank", "wrong pairs"];
    const features = data.features.slice(0, 5).map((name, k) => [name, k]);
    const choose = data.parts === null ? [] : [make("th", { scope: "col", class: "choose", "data-fixed": "1" }, "compare")];
    const head = make(
      "tr",
      {},
      make("th", { scope: "col" }, "row"),
      ...choose,
      ...scored.map((name) => make("th", { scope: "col", class: "n" }, name)),
      ...features.map(([name]) => make("th", { scope: "col" }, name)),
    );
    const body = rows.map((k) => {
      const row = data.rows[k];
      const numbers = [UTILITY, SCORE, RANK, WRONG].map((field) =>
        make("td", { class: "n", "data-value": row[field] }, format(row[field])),
      );
      const choices = ["a", "b"].map((side) =>
        make(
          "button",
          { type: "button", "data-side": side, "data-row": k, "aria-pressed": "false",
            "aria-label": `${label(row)} as ${side.toUpperCase()}`, onclick: () => pickRow(side, k) },
          side.toUpperCase(),
        ),
      );
      const values = features.map(([, f]) => make("td", { class: "long" }, format(data.values[k][f] ?? null)));
      const first = make("th", { scope: "row", class: "whole", "data-value": row[NUMBER] }, label(row));
      return make("tr", {}, first, ...(choose.length ? [make("td", { class: "choose" }, ...choices)] : []), ...numbers, ...values);
    });
    const table = make("table", {}, make("caption", {}, caption), make("thead", {}, head), make("tbody", {}, ...body));
    makeSortable(table);
    return make("div", { class: "scroll tall", tabindex: "0", role: "region", "aria-label": caption }, table);
  }

  function rowsOf(query) {
    return data.rows.flatMap((row, k) => (row[QUERY] === query ? [k] : []));
  }

  function closeAll(table) {
    for (const detail of table.querySelectorAll("tr.detail")) detail.remove();
    for (const button of table.querySelectorAll(".opens")) button.setAttribute("aria-expanded", "false");
  }

  function toggle(table, line, button, query) {
    if (button.getAttribute("aria-expanded") === "true") {
      line.nextElementSibling.remove();
      button.setAttribute("aria-expanded", "false");
      return;
    }
    const cell = make("td", { colspan: line.cells.length }, rowsTable(rowsOf(query), `Rows of ${data.names[query]}, by rank`));
    line.after(make("tr", { class: "detail" }, cell));
    button.setAttribute("aria-expanded", "true");
    mark();
  }

  function makeOpenable(table) {
    for (const line of Array.from(table.tBodies[0].rows)) {
      if (line.dataset.query === undefined) continue;
      const query = Number(line.dataset.query);
      const button = make("button", { type: "button", class: "opens", "aria-expanded": "false" });
      button.append(...line.cells[0].childNodes);
      button.addEventListener("click", () => toggle(table, line, button, query));
      line.cells[0].append(button);
    }
  }

  // Two rows.
  const place = document.getElementById("compare");
  const controls = {};

  function pickRow(side, k) {
    chosen[side] = k;
    const query = data.rows[k][QUERY];
    const other = side === "a" ? "b" : "a";
    // Scores are comparable inside a query only.
    if (chosen[other] === null || chosen[other] === k || data.rows[chosen[other]][QUERY] !== query) {
      chosen[other] = rowsOf(query).find((each) => each !== k) ?? k;
    }
    showChoice();
  }

  function mark() {
    for (const button of document.querySelectorAll("button[data-side]")) {
      button.setAttribute("aria-pressed", String(chosen[button.dataset.side] === Number(button.dataset.row)));
    }
  }

  function options(rows) {
    return rows.map((k) => {
      const row = data.rows[k];
      const text = `${label(row)}: utility ${format(row[UTILITY])}, rank ${row[RANK]}`;
      return make("option", { value: k }, text);
    });
  }

  function showChoice() {
    if (!place || chosen.a === null) return;
    const query = data.rows[chosen.a][QUERY];
    if (controls.query) controls.query.value = query;
    for (const side of ["a", "b"]) {
      controls[side].replaceChildren(...options(rowsOf(query)));
      controls[side].value = chosen[side];
    }
    showDifference();
    mark();
  }

  function sentence(first, second, difference, sorted) {
    const named = (sign) =>
      sorted.filter(([, part]) => part * sign > 0).slice(0, 2).map(([name, part]) => `${name} (${signed(part)})`).join(", ");
    if (difference === 0) return `A (${label(first)}) and B (${label(second)}) have the same score.`;
    const sign = Math.sign(difference);
    const against = named(-sign);
    const right = Math.sign(first[UTILITY] - second[UTILITY]);
    const verdict = right === 0 ? "Their utilities are equal." : right === sign ? "This is the right order." : "This is the wrong order.";
    return (
      `A (${label(first)}) is ${sign > 0 ? "above" : "below"} B (${label(second)}) by ${format(Math.abs(difference))}: ` +
      `mostly ${named(sign)}${against ? `; against it ${against}` : ""}. ${verdict}`
    );
  }

  function bar(value, largest) {
    const namespace = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(namespace, "svg");
    const width = (66 * Math.abs(value)) / (largest || 1);
    const shapes = [
      ["rect", { x: value < 0 ? 70 - width : 70, y: 3, width, height: 12, class: value < 0 ? "minus" : "plus" }],
      ["line", { x1: 70, x2: 70, y1: 1, y2: 17, class: "axis" }],
    ];
    for (const [name, attributes] of shapes) {
      const shape = document.createElementNS(namespace, name);
      for (const [key, each] of Object.entries(attributes)) shape.setAttribute(key, each);
      svg.append(shape);
    }
    for (const [key, each] of [["viewBox", "0 0 140 18"], ["class", "small"], ["aria-hidden", "true"]]) svg.setAttribute(key, each);
    return svg;
  }

  function showDifference() {
    const [first, second] = [data.rows[chosen.a], data.rows[chosen.b]];
    const parts = data.features.map((name, f) => [name, data.parts[chosen.a][f] - data.parts[chosen.b][f], f]);
    const sorted = parts.filter(([, part]) => part !== 0).sort(([, a], [, b]) => Math.abs(b) - Math.abs(a));
    const difference = sorted.reduce((sum, [, part]) => sum + part, 0);
    const largest = sorted.length ? Math.abs(sorted[0][1]) : 1;
    controls.said.textContent = sentence(first, second, difference, sorted);
    const columns = ["feature", "contribution", "", "A", "B"];
    const head = make("tr", {}, ...columns.map((name, k) => make(name ? "th" : "td", name ? { scope: "col", class: k === 1 ? "n" : null } : {}, name)));
    const body = sorted.map(([name, part, f]) =>
      make(
        "tr",
        {},
        make("th", { scope: "row" }, name),
        make("td", { class: "n" }, signed(part)),
        make("td", {}, bar(part, largest)),
        ...[chosen.a, chosen.b].map((k) => make("td", { class: "long" }, format(data.values[k][f] ?? null))),
      ),
    );
    const caption = make("caption", {}, `Contributions to the difference, ${signed(difference)} in total`);
    controls.shown.replaceChildren(make("table", {}, caption, make("thead", {}, head), make("tbody", {}, ...body)));
  }

  // The pair of one query that is wrong by the largest difference of scores.
  function worstPair(rows) {
    let [found, worst] = [[rows[0], rows[1] ?? rows[0]], -Infinity];
    for (const i of rows) {
      for (const j of rows) {
        const wrong = data.rows[i][SCORE] - data.rows[j][SCORE];
        if (data.rows[i][UTILITY] < data.rows[j][UTILITY] && wrong > worst) [found, worst] = [[i, j], wrong];
      }
    }
    return found;
  }

  function makeComparison() {
    const queries = Array.from(new Set(data.rows.map((row) => row[QUERY])));
    const pick = (query) => {
      [chosen.a, chosen.b] = worstPair(rowsOf(query));
      showChoice();
    };
    const labels = [];
    if (data.byQuery) {
      const names = queries.map((query) => make("option", { value: query }, data.names[query]));
      controls.query = make("select", { onchange: () => pick(Number(controls.query.value)) }, ...names);
      labels.push(make("label", {}, "Query", controls.query));
    }
    for (const side of ["a", "b"]) {
      controls[side] = make("select", { onchange: () => { chosen[side] = Number(controls[side].value); showDifference(); mark(); } });
      labels.push(make("label", {}, side.toUpperCase(), controls[side]));
    }
    const swap = make("button", { type: "button", onclick: () => { [chosen.a, chosen.b] = [chosen.b, chosen.a]; showChoice(); } }, "Swap A and B");
    controls.said = make("p", { class: "picked", "aria-live": "polite" });
    controls.shown = make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Contributions" });
    place.append(make("div", { class: "controls" }, ...labels, swap), controls.said, controls.shown);
    pick(queries[0]);
  }

  const list = document.getElementById("rows");
  if (list && data.rows.length) list.append(rowsTable(data.rows.map((_, k) => k), "Rows, by rank"));
  for (const table of document.querySelectorAll("table[data-sortable]")) makeSortable(table);
  for (const table of document.querySelectorAll("table[data-filter]")) {
    makeOpenable(table);
    makeFilter(table);
  }
  if (place && data.parts !== null) makeComparison();
})();
