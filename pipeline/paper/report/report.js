"use strict";
// Draws the report from the data that stands in the page. Text enters as text, never as HTML.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const at = (id) => document.getElementById(id);
  const SVG = "http://www.w3.org/2000/svg";

  // ---- building blocks

  function fill(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== null && value !== undefined && value !== false) {
        node.setAttribute(name, value === true ? "" : value);
      }
    }
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  }
  const el = (name, attributes = {}, ...children) =>
    fill(document.createElement(name), attributes, children);
  const svg = (name, attributes = {}, ...children) =>
    fill(document.createElementNS(SVG, name), attributes, children);

  const command = (text) => el("pre", { class: "command" }, text);
  const colour = (look) => (look.colour === "#000000" ? "var(--black)" : look.colour);
  const strokes = (look) => ({
    stroke: colour(look), "stroke-width": look.width, "stroke-dasharray": look.dash.join(" ") || null,
  });

  function scrolling(label, table, more = "") {
    return el("div", { class: `scroll${more}`, tabindex: 0, role: "region", "aria-label": label }, table);
  }

  function select(label, names, onChange) {
    const options = Object.entries(names).map(([value, text]) => el("option", { value }, text));
    const box = el("select", {}, ...options);
    box.addEventListener("change", onChange);
    return { box, field: el("label", {}, el("span", {}, label), box) };
  }

  function radios(fieldset, name, choices, onChange) {
    choices.forEach(([value, text], k) => {
      const input = el("input", { type: "radio", name, value, checked: k === 0 });
      input.addEventListener("change", () => onChange(value));
      fieldset.append(el("label", { class: "choice" }, input, el("span", {}, text)));
    });
  }

  /** Ticks at round numbers from low to high, and how to write them. */
  function ticks(low, high, about) {
    const rough = (high - low) / about;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * ([1, 2, 5, 10].find((m) => m * power >= rough * 0.999) ?? 10);
    const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) {
      found.push(k * step || 0); // no −0
    }
    const write = (v) => v.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
    return { found, write };
  }

  const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  function alphaText(alpha) {
    const k = Math.log2(alpha);
    if (!Number.isInteger(k)) return String(alpha);
    return `2${k < 0 ? "⁻" : ""}${[...String(Math.abs(k))].map((d) => SUPERSCRIPTS[d]).join("")}`;
  }

  const cell = (link, dataset, cutoff, method, protocol = data.protocol) =>
    data.cells[protocol][`${link}/${dataset}/${cutoff}/${method}`];
  const rowName = (link, dataset, cutoff) =>
    `${link}, ${data.datasets[dataset]}, ${data.cutoffs[cutoff]}`;

  /** Dataset, link and cutoff that have something to show: the first of all if there is one. */
  const every = (names) => Object.keys(data[names]);
  const settings = every("datasets").flatMap((d) =>
    every("links").flatMap((l) => every("cutoffs").map((c) => [d, l, c])));
  const hasLines = ([d, l, c]) => Object.keys(data.series.settings[`${l}/${d}/${c}`]?.curves ?? {}).length > 0;
  const first = settings.find(hasLines) ?? settings[0];

  // ---- overview

  /** Let the arrow keys move the focus in a grid of which Tab reaches one element. */
  const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  function moveWithArrows(owner, grid) {
    let [row, column] = [0, 0];
    grid[0][0].setAttribute("tabindex", 0);
    const focusable = (r, c) => {
      grid[row][column].setAttribute("tabindex", -1);
      [row, column] = [r, c];
      grid[row][column].setAttribute("tabindex", 0);
    };
    grid.forEach((line, r) => line.forEach((one, c) => one.addEventListener("focus", () => focusable(r, c))));
    owner.addEventListener("keydown", (event) => {
      const [down, right] = ARROWS[event.key] ?? [0, 0];
      const next = grid[row + down]?.[column + right];
      if ((down || right) && next) {
        event.preventDefault();
        next.focus();
      }
    });
  }

  /** The boxes stand in the page; what they say is told, and the arrow keys move among them. */
  function overview() {
    const show = (event) => {
      const found = data.cells[data.protocol][event.target.dataset.cell];
      if (!found) return;
      const reason = found.reason ? ` (${found.reason})` : "";
      at("verdict-readout").replaceChildren(
        event.target.getAttribute("aria-label") + reason,
        ...(found.command ? [command(found.command)] : []),
      );
    };
    at("verdict").addEventListener("pointerover", show);
    at("verdict").addEventListener("focusin", show);
    for (const picture of at("verdict").querySelectorAll("svg[role=group]")) {
      const rows = [...picture.querySelectorAll("g")].map((row) => [...row.querySelectorAll("rect")]);
      moveWithArrows(picture, rows);
    }
  }

  // ---- tables

  function figureCell(found, view, onGap) {
    const shown = found[view];
    if (!shown && found.state === "done") return el("td", { "data-verdict": found.verdict }, "unjudged");
    if (!shown) {
      const button = el("button", { type: "button", class: "gap", title: found.command }, found.state);
      button.addEventListener("click", onGap);
      return el("td", {}, button);
    }
    const text = view !== "z" && shown.b ? el("b", {}, shown.t) : shown.t;
    const attributes = view === "z" ? { "data-verdict": found.verdict } : {};
    const extra = view === "ours" && shown.e ? el("small", {}, ` ${shown.e}`) : null;
    const misprint = shown.misprint ? el("small", { title: "printed in bold, though not the least" }, " †") : null;
    return el("td", attributes, text, extra, misprint);
  }

  function tableBox(table) {
    let [view, column, direction] = ["ours", null, 1];
    const heads = ["Dataset", "cutoff", ...data.paper_methods.map((method) => data.methods[method].name)];
    const body = el("tbody");
    const told = el("div", { class: "gaps", "aria-live": "polite" });
    const figures = (row) => data.paper_methods.map((method) => cell(...row, method, table.protocol));
    const key = (row) => {
      if (column === 0) return data.datasets[row[1]];
      return column === 1 ? Number(row[2]) : (figures(row)[column - 2][view]?.n ?? null);
    };
    const order = (a, b) => {
      const [x, y] = [key(a), key(b)];
      if (x === null || y === null) return (x === null) - (y === null); // gaps stay last
      return direction * (typeof x === "string" ? x.localeCompare(y, "en") : x - y);
    };
    const tell = (row, k) => {
      const found = figures(row)[k];
      const name = `${rowName(...row)}, ${heads[k + 2]} is ${found.state}`;
      const reason = found.reason ? ` (${found.reason})` : "";
      told.replaceChildren(`${name}${reason}. This command fills it:`, command(found.command));
    };
    const draw = () => {
      const rows = column === null ? table.rows : [...table.rows].sort(order);
      body.replaceChildren(...rows.map((row) => el("tr", {},
        el("th", { scope: "row", class: "text" }, data.datasets[row[1]]),
        el("td", { class: "text" }, data.cutoffs[row[2]]),
        ...figures(row).map((found, k) => figureCell(found, view, () => tell(row, k))))));
      const way = direction > 0 ? "ascending" : "descending";
      ths.forEach((th, k) => th.setAttribute("aria-sort", k === column ? way : "none"));
    };
    const ths = heads.map((name, k) => {
      const button = el("button", { type: "button" }, name);
      button.addEventListener("click", () => {
        if (column !== k) [column, direction] = [k, 1];
        else if (direction > 0) direction = -1;
        else column = null;
        draw();
      });
      return el("th", { scope: "col", class: k < 2 ? "text" : null }, button);
    });
    const grid = el("table", {}, el("thead", {}, el("tr", {}, ...ths)), body);
    const lines = table.commands.map(command);
    const gaps = lines.length ? el("div", { class: "gaps" }, "Cells are missing; to fill them:", ...lines) : null;
    const title = tableTitle(table);
    const heading = [el("h3", {}, title), el("p", { class: "note" }, table.caption)];
    const attributes = { class: "table-box", id: `table-${table.id}` };
    const box = el("div", attributes, ...heading, scrolling(title, grid), told, gaps);
    draw();
    return { box, show: (wanted) => { view = wanted; draw(); } };
  }

  const tableTitle = (table) => table.title + (table.protocol === data.protocol ? "" : `, ${table.protocol}`);

  function tables() {
    const boxes = data.tables.map(tableBox);
    const choose = (id) => boxes.forEach(({ box }) => { box.hidden = box.id !== `table-${id}`; });
    at("table-boxes").append(...boxes.map(({ box }) => box));
    radios(at("table-choice"), "table", data.tables.map((table) => [table.id, tableTitle(table)]), choose);
    const views = ["ours", "paper", "z"].map((view) => [view, view]);
    radios(at("view-choice"), "view", views, (view) => boxes.forEach((box) => box.show(view)));
    choose(data.tables[0].id);
  }

  // ---- charts

  const CURVES = {
    part: "curves", label: ["average loss R", "t", "/t"], xLabel: "round t", cursor: "round",
    scale: (x) => x, where: (x) => `t = ${x.toLocaleString("en-US")}`,
    text: (p) => `${p.y}${p.e === null ? "" : ` ± ${Number(p.e.toPrecision(2))}`}`,
    rest: (line) => line.points.length - 1,
    xTicks: (low, high, about) => ticks(low, high, about),
    range(lines) {
      const last = Math.max(1, ...lines.map((line) => line.points.at(-1).x));
      const late = (line) => line.points.filter((p) => p.x >= 0.05 * line.points.at(-1).x);
      const highest = Math.max(0, ...lines.flatMap(late).map((p) => p.y));
      return { x: [0, last], y: [0, highest > 0 ? 1.08 * highest : 1] };
    },
  };
  const ALPHAS = {
    part: "alphas", label: ["loss R", "T", " / that of greedy"], xLabel: "alpha", cursor: "alpha",
    scale: Math.log2, where: (x) => `alpha = ${alphaText(x)}`,
    text(p, line) {
      const ratio = `×${p.y.toFixed(3)}${p.e === null ? "" : ` ± ${p.e.toFixed(3)}`}`;
      return p.loss.toFixed(data.digits) + (line.flat ? "" : ` (${ratio})`);
    },
    rest: (line) => Math.max(0, line.points.findIndex((p) => p.x === line.tuned)),
    xTicks(low, high, about) {
      const step = Math.max(1, Math.ceil((high - low) / about));
      const found = [];
      for (let k = Math.ceil(low); k <= high; k += step) found.push(k);
      return { found, write: (k) => alphaText(2 ** k) };
    },
    range(lines) {
      const low = Math.min(1, ...lines.flatMap((line) => line.points.map((p) => p.y)));
      const ends = lines.filter((line) => !line.flat).flatMap((line) => [line.points[0].x, line.points.at(-1).x]);
      const x = ends.length ? [Math.log2(Math.min(...ends)) - 0.3, Math.log2(Math.max(...ends)) + 0.3] : [-1, 1];
      return { x, y: [low - Math.max(0.01, 0.12 * (1 - low)), 1 + Math.max(0.05, 0.6 * (1 - low))] };
    },
  };

  /** The points of a method; a method with one alpha, or none above 0, is a level line. */
  function lineOf(kind, method, raw) {
    const xs = data.series.lists[raw.x];
    let points = xs.map((x, k) => ({ x, y: raw.y[k], e: raw.e[k], loss: raw.loss?.[k] })).filter((p) => p.y !== null);
    const flat = kind === ALPHAS && xs.length === 1;
    if (kind === ALPHAS && !flat) points = points.filter((p) => p.x > 0);
    return { method, look: data.methods[method], points, flat, tuned: raw.tuned };
  }

  function plot(kind, width, lines, all) {
    const height = Math.round(Math.min(430, Math.max(260, width * 0.5)));
    const range = kind.range(lines.length ? lines : all);
    const yTicks = ticks(...range.y, 5);
    const left = 14 + 7 * Math.max(...yTicks.found.map((v) => yTicks.write(v).length));
    const [top, right, bottom] = [24, 14, 42];
    const px = (x) => left + ((x - range.x[0]) / (range.x[1] - range.x[0])) * (width - left - right);
    const py = (y) => height - bottom - ((y - range.y[0]) / (range.y[1] - range.y[0])) * (height - bottom - top);
    const xTicks = kind.xTicks(...range.x, Math.max(3, Math.floor(width / 90)));
    const [name, index, rest] = kind.label;
    const picture = svg("svg", { class: "plot", width, height, viewBox: `0 0 ${width} ${height}` });
    const clip = `clip-${kind.part}`;
    const frame = { x: left, y: top, width: width - left - right, height: height - top - bottom };
    picture.append(svg("clipPath", { id: clip }, svg("rect", frame)));
    for (const v of yTicks.found) {
      picture.append(svg("line", { class: "grid", x1: left, x2: width - right, y1: py(v), y2: py(v) }),
        svg("text", { x: left - 6, y: py(v) + 4, "text-anchor": "end", class: "soft" }, yTicks.write(v)));
    }
    for (const v of xTicks.found) {
      picture.append(svg("line", { class: "axis", x1: px(v), x2: px(v), y1: height - bottom, y2: height - bottom + 5 }),
        svg("text", { x: px(v), y: height - bottom + 18, "text-anchor": "middle", class: "soft" }, xTicks.write(v)));
    }
    const base = height - bottom;
    picture.append(svg("line", { class: "axis", x1: left, x2: width - right, y1: base, y2: base }),
      svg("text", { x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, kind.xLabel),
      svg("text", { x: 4, y: 13 }, name, svg("tspan", { class: "sub", dy: 3 }, index), svg("tspan", { dy: -3 }, rest)));
    const drawing = svg("g", { "clip-path": `url(#${clip})` });
    const ends = (p) => [[left, py(p.y)], [width - right, py(p.y)]];
    const place = (line) => (p) => (line.flat ? ends(p) : [[px(kind.scale(p.x)), py(p.y)]]);
    const path = (pairs) => pairs.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");
    for (const line of lines) {
      const sure = line.points.filter((p) => p.e !== null);
      const upper = sure.map((p) => ({ ...p, y: p.y + p.e })).flatMap(place(line));
      const lower = sure.map((p) => ({ ...p, y: p.y - p.e })).flatMap(place(line)).reverse();
      drawing.append(svg("polygon", { class: "band", points: path([...upper, ...lower]), fill: colour(line.look) }));
    }
    for (const line of lines) {
      const method = { "data-method": line.method };
      const points = path(line.points.flatMap(place(line)));
      drawing.append(svg("polyline", { class: "line", points, ...method, ...strokes(line.look) }));
      const dot = kind === ALPHAS && !line.flat ? line.points.find((p) => p.x === line.tuned) : null;
      if (dot) {
        const middle = { cx: px(kind.scale(dot.x)), cy: py(dot.y), r: 5 };
        drawing.append(svg("circle", { class: "dot", ...middle, fill: colour(line.look), ...method }));
      }
    }
    const cursor = svg("line", { class: "cursor", y1: top, y2: height - bottom, visibility: "hidden" });
    picture.append(drawing, cursor);
    return { picture, cursor, px: (x) => px(kind.scale(x)) };
  }

  function chart(owner, kind) {
    let index = null; // into the x of all shown lines; null: the cursor rests
    const draw = () => { index = null; redraw(); };
    const names = { Dataset: data.datasets, Link: data.links, Cutoff: data.cutoffs };
    const choices = Object.entries(names).map(([label, known]) => select(label, known, draw));
    const [dataset, link, cutoff] = choices.map(({ box }) => box);
    [dataset.value, link.value, cutoff.value] = first;
    const box = el("div");
    const where = el("div", { class: "where", "aria-hidden": "true" });
    const gap = el("div", { class: "gaps" });
    const boxes = Object.entries(data.methods).map(([method, look]) => {
      const input = el("input", { type: "checkbox", value: method, checked: true });
      const value = el("output");
      input.addEventListener("change", draw);
      const stroke = svg("line", { x1: 0, x2: 46, y1: 6, y2: 6, ...strokes(look) });
      const sample = svg("svg", { viewBox: "0 0 46 12", "aria-hidden": "true" }, stroke);
      return { method, input, value, label: el("label", {}, input, sample, el("span", {}, look.label), value) };
    });
    owner.append(el("div", { class: "controls" }, ...choices.map(({ field }) => field)), box, where,
      el("fieldset", { class: "methods" }, el("legend", {}, "Methods"), ...boxes.map(({ label }) => label)), gap);

    function redraw() {
      const name = rowName(link.value, dataset.value, cutoff.value);
      const nothing = { curves: {}, alphas: {}, missing: [] };
      const setting = data.series.settings[`${link.value}/${dataset.value}/${cutoff.value}`] ?? nothing;
      const known = Object.keys(data.methods).filter((method) => setting[kind.part][method]);
      const all = known.map((method) => lineOf(kind, method, setting[kind.part][method]))
        .filter((line) => line.points.length);
      const shown = all.filter((line) => boxes.find((b) => b.method === line.method).input.checked);
      for (const { method, input, label } of boxes) {
        input.disabled = !all.some((line) => line.method === method);
        label.hidden = input.disabled && !data.paper_methods.includes(method);
      }
      const lacking = setting.missing.slice(0, -1).map((m) => data.methods[m].label);
      const told = [`Missing: ${lacking.join(", ")}. To fill them:`, command(setting.missing.at(-1) ?? "")];
      gap.replaceChildren(...(lacking.length ? told : []));
      if (!all.length) {
        const some = Object.keys(setting.curves).length > 0;
        const why = some ? "greedy is missing, by which losses are divided" : "all methods are missing";
        box.replaceChildren(el("p", {}, `${name}: ${why}.`));
        boxes.forEach(({ value }) => { value.textContent = "missing"; });
        where.textContent = "";
        return;
      }
      const drawn = plot(kind, Math.max(280, box.clientWidth), shown, all);
      box.replaceChildren(drawn.picture);
      withCursor(drawn, shown, all, name);
    }

    function withCursor({ picture, cursor, px }, shown, all, name) {
      const places = shown.filter((line) => !line.flat).flatMap((line) => line.points.map((p) => p.x));
      const xs = [...new Set(places)].sort((a, b) => a - b);
      const nearest = (line, x) => line.points.reduce((a, b) => (Math.abs(b.x - x) < Math.abs(a.x - x) ? b : a));
      const point = (line) => (index === null || !xs.length ? line.points[kind.rest(line)] : nearest(line, xs[index]));
      const text = (line) => kind.text(point(line), line);
      const update = () => {
        const resting = index === null || !xs.length;
        cursor.setAttribute("visibility", resting ? "hidden" : "visible");
        if (!resting) ["x1", "x2"].forEach((end) => cursor.setAttribute(end, px(xs[index])));
        where.textContent = resting ? (kind === CURVES ? "at the end" : "at the tuned alpha") : kind.where(xs[index]);
        for (const { method, value } of boxes) {
          const line = shown.find((one) => one.method === method);
          value.textContent = line ? text(line) : all.some((one) => one.method === method) ? "" : "missing";
        }
        const values = shown.map((line) => `${line.look.label} ${text(line)}`).join("; ");
        picture.setAttribute("aria-valuenow", index ?? Math.max(0, xs.length - 1));
        picture.setAttribute("aria-valuetext", `${where.textContent}: ${values}`);
      };
      fill(picture, {
        tabindex: 0, role: "slider", "aria-valuemin": 0, "aria-valuemax": Math.max(0, xs.length - 1),
        "aria-label": `${name}: ${kind.label.join("")}; arrow keys move the ${kind.cursor}`,
      }, []);
      const go = (wanted) => {
        index = wanted === null || !xs.length ? null : Math.min(xs.length - 1, Math.max(0, wanted));
        update();
      };
      picture.addEventListener("pointermove", (event) => {
        const x = event.clientX - picture.getBoundingClientRect().left;
        const best = xs.reduce((a, b, k) => (Math.abs(px(b) - x) < Math.abs(px(xs[a]) - x) ? k : a), 0);
        go(best);
      });
      picture.addEventListener("pointerleave", () => go(null));
      picture.addEventListener("blur", () => go(null));
      picture.addEventListener("keydown", (event) => {
        const from = index ?? xs.length - 1;
        const steps = {
          ArrowLeft: from - 1, ArrowRight: from + 1, ArrowDown: from - 1, ArrowUp: from + 1,
          PageDown: from - 10, PageUp: from + 10, Home: 0, End: xs.length - 1,
        };
        if (event.key in steps) {
          event.preventDefault();
          go(steps[event.key]);
        } else if (event.key === "Escape") go(null);
      });
      update();
    }

    redraw();
    whenResized(box, redraw);
  }

  /** Draw again when the width changes; the height is the drawing's own doing. */
  function whenResized(box, redraw) {
    let width = box.clientWidth;
    new ResizeObserver(() => {
      if (box.clientWidth !== width) {
        width = box.clientWidth;
        redraw();
      }
    }).observe(box);
  }

  // ---- hindsight

  const percent = (v) => `${(100 * v).toFixed(0)}%`.replace("-", "−");

  function quantile(values, share) {
    const sorted = [...values].sort((a, b) => a - b);
    const place = share * (sorted.length - 1);
    const low = Math.floor(place);
    return sorted[low] + (place - low) * ((sorted[low + 1] ?? sorted[low]) - sorted[low]);
  }

  /** All dots and nearly all intervals of a link: the same scale for all its methods. */
  function advantageRange(cells) {
    const done = Object.values(cells).flat().filter((one) => one.texts);
    const dots = done.flatMap((one) => [one.before, one.after]);
    const ends = done.flatMap((one) => [one.low, one.high]).filter((v) => v !== null);
    if (!dots.length || !ends.length) return [-1, 1];
    const [low, high] = [Math.min(0, quantile(ends, 0.02), ...dots), Math.max(0.01, quantile(ends, 0.98), ...dots)];
    return [low - 0.05 * (high - low), high + 0.05 * (high - low)];
  }

  function advantagePicture(cells, range, look, width, show) {
    const [H, left, top, right] = [22, 118, 8, 12];
    const height = top + cells.length * H + 40;
    const px = (v) => left + ((v - range[0]) / (range[1] - range[0])) * (width - left - right);
    const clamp = (v) => Math.min(width - right, Math.max(left, px(v)));
    const picture = svg("svg", {
      class: "plot", width, height, viewBox: `0 0 ${width} ${height}`, role: "group",
      "aria-label": `Advantage of ${look.label} over greedy; arrow keys move`,
    });
    for (let k = 0; k < cells.length; k += 4) { // every other dataset, which has two cutoffs
      picture.append(svg("rect", { x: 0, y: top + k * H, width, height: 2 * H, class: "shade" }));
    }
    const stroke = colour(look);
    const scale = ticks(...range, Math.max(3, Math.floor(width / 110)));
    for (const v of scale.found) {
      picture.append(svg("line", { class: "grid", x1: px(v), x2: px(v), y1: top, y2: height - 38 }),
        svg("text", { x: px(v), y: height - 24, "text-anchor": "middle", class: "soft" }, percent(v)));
    }
    picture.append(svg("line", { x1: px(0), x2: px(0), y1: top, y2: height - 38, ...strokes(data.methods.greedy) }),
      svg("text", { x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, "advantage over greedy"));
    const rows = cells.map((one, k) => {
      const y = top + k * H + H / 2;
      const text = one.texts
        ? `${one.name}: ${data.hindsight.about.map((head, c) => `${head} ${one.texts[c]}`).join(", ")}`
        : `${one.name}: missing ${one.missing}`;
      const level = { y1: y, y2: y, stroke };
      const marks = one.texts ? [
        svg("line", { x1: clamp(one.low ?? one.after), x2: clamp(one.high ?? one.after), "stroke-width": 1.2, ...level }),
        svg("line", { x1: px(one.before), x2: px(one.after), ...level, "stroke-width": 3 }),
        svg("circle", { cx: px(one.before), cy: y, r: 5.5, class: "ground", stroke, "stroke-width": 1.6 }),
        svg("circle", { cx: px(one.after), cy: y, r: 3.2, fill: stroke }),
      ] : [svg("text", { x: px(0) + 6, y: y + 4, class: "soft" }, "missing")];
      const row = svg("g", { class: "setting", role: "img", tabindex: k ? -1 : 0, "aria-label": text },
        svg("rect", { x: 0, y: y - H / 2, width, height: H, class: "clear" }),
        svg("text", { x: left - 8, y: y + 4, "text-anchor": "end" }, one.name), ...marks);
      const tell = () => show(text, one.command);
      row.addEventListener("pointerenter", tell);
      row.addEventListener("focus", tell);
      return row;
    });
    picture.append(...rows);
    moveWithArrows(picture, rows.map((row) => [row]));
    return picture;
  }

  function hindsight() {
    if (!data.hindsight) return; // the page says how to add it
    const methods = Object.fromEntries(data.hindsight.methods.map((m) => [m, data.methods[m].label]));
    const names = Object.fromEntries(Object.keys(data.hindsight.links).map((link) => [link, data.links[link]]));
    const choices = [select("Link", names, () => draw()), select("Method", methods, () => draw())];
    const [link, method] = choices.map(({ box }) => box);
    method.value = "ours";
    const box = el("div");
    const readout = el("output", { class: "readout", "aria-live": "polite" });
    const show = (text, line) => readout.replaceChildren(text, ...(line ? [command(line)] : []));
    function draw() {
      const here = data.hindsight.links[link.value];
      const cells = here.cells[method.value];
      const [range, look] = [advantageRange(here.cells), data.methods[method.value]];
      box.replaceChildren(advantagePicture(cells, range, look, Math.max(280, box.clientWidth), show));
      show("Point at a line to read its figures.");
    }
    at("hindsight-chart").append(el("div", { class: "controls" }, ...choices.map(({ field }) => field)), box, readout);
    draw();
    whenResized(box, draw);
  }

  // ---- runs

  function runRow(run) {
    const lacks = cell(run.link, run.dataset, run.cutoff, run.method)?.command;
    const words = (text) => el("td", { class: "text" }, text);
    const link = (address, text) => (address ? el("a", { href: address }, text) : "not here");
    const state = run.reason ? `${run.state}: ${run.reason}` : run.state;
    const rest = run.state === "done"
      ? [
        el("td", {}, run.alpha ? alphaText(run.alpha) : "–"), words(link(run.config, "config")),
        words(link(run.mlflow, "MLflow")), words(el("code", {}, run.folder)),
      ]
      : [el("td", { class: "text", colspan: 4 }, el("code", {}, lacks ?? "missing"))];
    const [cutoff, method] = [data.cutoffs[run.cutoff], data.methods[run.method].name];
    return el("tr", {}, el("td", {}, cutoff), words(method), words(state), ...rest);
  }

  function runs() {
    const choices = [select("Dataset", data.datasets, () => draw()), select("Link", data.links, () => draw())];
    const [dataset, link] = choices.map(({ box }) => box);
    [dataset.value, link.value] = first;
    at("runs-controls").append(...choices.map(({ field }) => field));
    const heads = ["cutoff", "method", "state", "tuned alpha", "config", "MLflow", "folder"];
    const order = Object.keys(data.methods);
    function draw() {
      const here = data.runs.filter((run) => run.dataset === dataset.value && run.link === link.value);
      here.sort((a, b) => a.cutoff.localeCompare(b.cutoff, "en") || order.indexOf(a.method) - order.indexOf(b.method));
      const head = heads.map((name, k) => el("th", { scope: "col", class: k === 0 || k === 3 ? null : "text" }, name));
      const table = el("table", {}, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...here.map(runRow)));
      const where = `${data.datasets[dataset.value]}, ${link.value} link`;
      const none = el("p", {}, `${where}: no run is in the collection; the tables name the commands.`);
      at("runs-table").replaceChildren(here.length ? scrolling("Runs", table, " tall") : none);
    }
    draw();
  }

  // ---- the page

  function theme() {
    const [root, button, system] = [document.documentElement, at("theme"), matchMedia("(prefers-color-scheme: dark)")];
    let chosen = null;
    try { chosen = localStorage.getItem("onesided-theme"); } catch { /* a browser that keeps nothing */ }
    const apply = () => {
      if (chosen) root.dataset.theme = chosen;
      button.setAttribute("aria-pressed", (chosen ?? (system.matches ? "dark" : "light")) === "dark");
    };
    button.addEventListener("click", () => {
      chosen = button.getAttribute("aria-pressed") === "true" ? "light" : "dark";
      try { localStorage.setItem("onesided-theme", chosen); } catch { /* the choice holds for this visit */ }
      apply();
    });
    system.addEventListener("change", apply);
    apply();
  }

  function navigation() {
    const links = [...document.querySelectorAll("nav a")];
    const sections = [...document.querySelectorAll("main > section")];
    const inBand = new Set(); // a band across the upper part of the window; two sections may touch it
    const watcher = new IntersectionObserver((entries) => {
      entries.forEach((entry) => inBand[entry.isIntersecting ? "add" : "delete"](entry.target));
      const here = sections.findLast((section) => inBand.has(section));
      if (!here) return;
      links.forEach((link) => {
        if (link.hash === `#${here.id}`) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
      });
    }, { rootMargin: "-20% 0px -75% 0px" });
    sections.forEach((section) => watcher.observe(section));
    addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((one) => { one.open = true; }));
  }

  theme();
  overview();
  tables();
  chart(at("curves-chart"), CURVES);
  chart(at("alpha-chart"), ALPHAS);
  hindsight();
  runs();
  navigation();
})();
