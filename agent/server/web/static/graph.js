// The graph, walked: one entity in the middle, a page of its neighbours in two wings around it.
// Names stand level and never meet, however many there are; a click walks on.

import { h, s, button, show, named, said, count, memories } from "./dom.js";
import { call } from "./api.js";

const ROW = 38; // pixels that a neighbour's two lines take
const LETTER = 7.4; // about the width of a letter of a name
const MOST = 44;
const AROUND = 104; // pixels that the way above and the types below take

const cut = (text, letters) => (text.length <= letters ? text : text.slice(0, Math.max(1, letters - 1)).trimEnd() + "…");

/** Where each neighbour goes: clockwise from the top, the wings bent like a leaf. */
function placed(neighbours, width, height) {
  const right = Math.ceil(neighbours.length / 2);
  const wings = [right, neighbours.length - right];
  const reach = Math.min(width * 0.25, 300);
  return neighbours.map((neighbour, index) => {
    const side = index < right ? 1 : -1;
    const rows = side > 0 ? wings[0] : wings[1];
    const row = side > 0 ? index : rows - 1 - (index - right);
    const step = Math.min(ROW * 1.9, Math.max(ROW, (height - 44) / Math.max(rows, 1)));
    const y = (row - (rows - 1) / 2) * step;
    const bend = Math.sqrt(Math.max(0, 1 - (y / (Math.max(rows, 3) * step * 0.62)) ** 2));
    return { neighbour, side, x: side * reach * (0.5 + 0.5 * bend), y };
  });
}

const thread = (x, y) => `M0 0 C${x * 0.42} ${y * 0.06} ${x * 0.55} ${y} ${x} ${y}`;

/** Draw what lies around an entity. `page` has go, panel, types and say; see app.js. */
export async function drawGraph(stage, state, page) {
  const height = Math.max(stage.clientHeight - AROUND, 220);
  const limit = Math.max(12, Math.min(MOST, 2 * Math.floor((height - 44) / ROW)));
  const asked = { entity: state.entity, limit, offset: state.offset || 0, type: state.type || null };
  const found = await call("around", asked);
  const order = page.types.map(([name]) => name);
  const neighbours = [...found.neighbours].sort(
    (a, b) => order.indexOf(a.type) - order.indexOf(b.type) || b.memories - a.memories,
  );
  const width = Math.max(stage.clientWidth, 320);
  const spots = placed(neighbours, width, height);
  const tallest = Math.max(height, ...spots.map((spot) => 2 * Math.abs(spot.y) + 60));
  const letters = Math.floor((width / 2 - Math.max(0, ...spots.map((spot) => Math.abs(spot.x))) - 34) / LETTER);

  const svg = s("svg", {
    class: "graph",
    viewBox: `${-width / 2} ${-tallest / 2} ${width} ${tallest}`,
    width,
    height: tallest,
    role: "group",
    "aria-label": `${named(found.entity)} and what lies around`,
  });
  const where = new Map(spots.map((spot) => [spot.neighbour.key, spot]));
  const pairs = found.pairs
    .filter((pair) => where.has(pair.head) && where.has(pair.tail))
    .map((pair) => {
      const [a, b] = [where.get(pair.head), where.get(pair.tail)];
      const bend = a.side === b.side ? 0.62 : 0.2;
      const [cx, cy] = [((a.x + b.x) / 2) * bend, ((a.y + b.y) / 2) * (a.side === b.side ? 1 : 0.6)];
      const title = `${a.neighbour.name}: ${pair.relations.map(said).join(", ")}: ${b.neighbour.name}`;
      const line = s("path", { class: "pair", d: `M${a.x} ${a.y} Q${cx} ${cy} ${b.x} ${b.y}` }, s("title", {}, title));
      return { line, ends: [pair.head, pair.tail] };
    });
  const threads = spots.map(({ neighbour, x, y }) =>
    s("path", {
      class: `thread ${neighbour.type}`,
      d: thread(x, y),
      "stroke-width": (1 + Math.min(3, Math.log2(neighbour.memories) * 0.7)).toFixed(2),
    }),
  );
  const nodes = spots.map((spot, index) => node(spot, index));

  function node({ neighbour, side, x, y }, index) {
    const relation = neighbour.relations.map(said).join(", ");
    const name = named(neighbour.name);
    const label = `${name}, ${relation}, ${memories(neighbour.memories)}`;
    const dx = side * 15;
    const anchor = side > 0 ? "start" : "end";
    return s(
      "g",
      {
        class: `node ${neighbour.type}`,
        transform: `translate(${x} ${y})`,
        tabindex: index === 0 ? "0" : "-1",
        role: "button",
        "aria-label": label,
        "data-entity": neighbour.name,
        onclick: () => page.walk(neighbour.name),
        onpointerenter: () => lit(neighbour.key),
        onpointerleave: () => lit(null),
        onfocus: () => lit(neighbour.key),
        onblur: () => lit(null),
        onkeydown: (event) => moved(event, index, neighbour),
      },
      s("rect", { class: "reach", x: side > 0 ? -12 : -letters * LETTER - 16, y: -18, width: letters * LETTER + 28, height: 36, rx: 9 }),
      s("circle", { r: (4 + Math.min(5, Math.log2(neighbour.onward + 1) * 1.1)).toFixed(1) }),
      s("text", { class: "name", x: dx, y: -1, "text-anchor": anchor }, cut(name, letters), s("title", {}, label)),
      s("text", { class: "relation", x: dx, y: 13, "text-anchor": anchor }, cut(relation, letters + 4)),
    );
  }

  function lit(key) {
    svg.classList.toggle("lighting", key !== null);
    const near = new Set([key]);
    for (const { line, ends } of pairs) {
      const touches = key !== null && ends.includes(key);
      line.classList.toggle("lit", touches);
      if (touches) ends.forEach((end) => near.add(end));
    }
    spots.forEach(({ neighbour }, index) => {
      nodes[index].classList.toggle("lit", near.has(neighbour.key));
      threads[index].classList.toggle("lit", neighbour.key === key);
    });
  }

  function moved(event, index, neighbour) {
    const steps = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };
    const side = spots[index].side;
    if (event.key in steps) {
      // Clockwise is down on the right and up on the left: the arrows follow the eye.
      const level = event.key === "ArrowDown" || event.key === "ArrowUp";
      let next = index + steps[event.key] * (level ? side : 1);
      if (!level) {
        const across = spots.map((spot, at) => ({ at, far: spot.side === side ? Infinity : Math.abs(spot.y - spots[index].y) }));
        next = across.reduce((best, one) => (one.far < best.far ? one : best)).at;
      }
      next = (next + nodes.length) % nodes.length;
      nodes.forEach((one, at) => one.setAttribute("tabindex", at === next ? "0" : "-1"));
      nodes[next].focus();
    } else if (event.key === "Enter") page.walk(neighbour.name);
    else if (event.key === " ") page.between(found.entity, neighbour.name);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  svg.append(...pairs.map(({ line }) => line), ...threads, middle(found, page), ...nodes);
  show(
    stage,
    h("div", { class: "over" }, trail(state, found, page), pager(found, limit, state, page)),
    h("div", { class: "canvas" }, svg),
    h("div", { class: "under" }, legend(state, page)),
  );
  if (state.focus) nodes[0]?.focus();
  return found;
}

function middle(found, page) {
  const name = named(found.entity);
  const words = cut(name, 26).split(" ");
  const half = Math.ceil(words.length / 2);
  const lines = name.length > 8 && words.length > 1 ? [words.slice(0, half).join(" "), words.slice(half).join(" ")] : [words.join(" ")];
  const radius = Math.max(36, Math.min(70, Math.max(...lines.map((line) => line.length)) * 4.6 + 14));
  return s(
    "g",
    { class: "middle", role: "button", tabindex: "0", "aria-label": `Memories of ${name}`, onclick: () => page.list(found.entity) },
    s("circle", { class: "halo", r: radius + 9 }),
    s("circle", { r: radius }),
    lines.map((line, index) =>
      s("text", { y: (index - (lines.length - 1) / 2) * 19 + 5.5, "text-anchor": "middle" }, line),
    ),
  );
}

function trail(state, found, page) {
  const steps = state.trail || [];
  return h(
    "nav",
    { class: "trail", "aria-label": "Your path" },
    steps.map((name, index) => [
      button(named(name), () => page.go({ entity: name, trail: steps.slice(0, index), offset: 0 })),
      h("span", { "aria-hidden": "true" }, "›"),
    ]),
    h("strong", {}, named(found.entity)),
  );
}

function pager(found, limit, state, page) {
  const first = state.offset || 0;
  if (found.total <= limit && first === 0) return h("span", { class: "quiet" }, count(found.total, "neighbour"));
  const last = first + found.neighbours.length;
  return h(
    "span",
    { class: "pager quiet" },
    button("‹", () => page.go({ offset: Math.max(0, first - limit) }), { disabled: first === 0, "aria-label": "Nearer neighbours" }),
    `${first + 1}–${last} of ${found.total.toLocaleString("en")}`,
    button("›", () => page.go({ offset: first + limit }), { disabled: last >= found.total, "aria-label": "Further neighbours" }),
  );
}

/** The four types with their colours; each can be looked at alone. */
export function legend(state, page) {
  return h(
    "div",
    { class: "legend", role: "group", "aria-label": "Types" },
    page.types.map(([name, number]) =>
      button(
        [h("i", { class: `dot ${name}` }), `${name} `, h("span", { class: "quiet" }, number.toLocaleString("en"))],
        () => page.go({ type: state.type === name ? null : name, offset: 0 }),
        { "aria-pressed": state.type === name ? "true" : "false" },
      ),
    ),
  );
}
