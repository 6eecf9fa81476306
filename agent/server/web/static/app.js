// The page as a whole: what is looked at, the way back, keys, and what is said about it.
//
// What is looked at is kept in the history's state and never in the address: names and questions
// would stay in the browser's history, which many browsers send elsewhere.

import { h, button, show } from "./dom.js";
import { call, enter } from "./api.js";
import { drawGraph } from "./graph.js";
import { entityList, TRUST } from "./cards.js";
import { memoryPanel } from "./memory.js";
import { drawTimeline } from "./timeline.js";
import { drawAnswers, reasonsPanel } from "./answers.js";
import { drawChanges } from "./changes.js";
import { drawToday } from "./today.js";
import { searching } from "./search.js";
import { welcome, help, telling } from "./welcome.js";

const $ = (id) => document.getElementById(id);
const [stage, side, notice] = [$("stage"), $("side"), $("notice")];
const VIEWS = { graph: drawGraph, today: drawToday, timeline: drawTimeline, answers: drawAnswers, changes: drawChanges };
const FIRST = { view: "graph", entity: "me", trail: [], offset: 0 };
/** Where the page begins: at the best connected thing; by time where nothing is connected. */
const first = () => (page.overview.first || !page.overview.memories ? { ...FIRST, entity: page.overview.first || "me" } : { ...FIRST, view: "timeline" });
const LOOK_MS = 5000;
let drawing = Promise.resolve(); // one after the other, so that a slow look never ends up over a later one
let wanted = 0;
let whole = false;

const page = {
  state: FIRST,
  types: [],
  subclasses: new Map(),
  latest: null,
  inWords: true,
  touched: new Set(), // what the open memory joins

  /** Look at something else; what is not named stays. */
  async go(change, { push = true } = {}) {
    const moved = "view" in change || "entity" in change;
    const depth = (page.state.depth || 0) + (push ? 1 : 0);
    const next = { ...page.state, focus: false, ...(moved ? { memory: null, beside: null } : {}), ...change, depth };
    if (push) history.pushState(next, "", "/");
    page.state = next;
    await page.render({ sideOnly: !moved && !["offset", "type", "before"].some((name) => name in change) });
  },

  /** Walk from the entity in the middle to one beside it. */
  async walk(entity) {
    const { entity: from, trail: before = [], view } = page.state;
    const way = view === "graph" && from !== entity ? [...before, from] : [];
    const been = way.indexOf(entity);
    const trail = (been < 0 ? way : way.slice(0, been)).slice(-6);
    const focus = Boolean(document.activeElement?.closest(".node")); // who walks by keys walks on by keys
    await page.go({ view: "graph", entity, trail, offset: 0, type: null, focus });
  },

  between: (entity, beside) => page.go({ beside, memory: null }),
  list: (entity) => page.go({ memory: null, beside: null }),

  /** Draw what is looked at; of several that wait only the last is drawn. */
  async render({ sideOnly = false } = {}) {
    const mine = ++wanted;
    whole = whole || !sideOnly;
    drawing = drawing.then(async () => {
      if (mine !== wanted) return;
      const all = whole;
      whole = false;
      await page.draw(all);
    });
    await drawing;
  },

  /** Both halves at once: a key that is pressed meanwhile never falls on a half that is about to go. */
  async draw(all) {
    const { state } = page;
    const empty = page.overview.memories + page.overview.history === 0 && state.view === "graph";
    document.body.dataset.view = state.view;
    document.body.classList.toggle("new", empty);
    for (const one of document.querySelectorAll("button[data-view]")) one.setAttribute("aria-current", one.dataset.view === state.view ? "page" : "false");
    if (empty) {
      welcome(stage, side, page);
      return;
    }
    page.touched = new Set();
    const parts = await page.attempt(() => beside(state));
    document.body.classList.toggle("alone", parts === null);
    await page.attempt(async () => {
      if (all) await VIEWS[state.view](stage, state, page);
      undecided(state.view === "today" ? [] : page.overview.undecided); // there they have their place
      mark(state);
      if (parts === undefined) return; // it could not be read, which was told
      show(side, parts || []);
      side.scrollTop = 0;
    });
  },

  /** Do something; what goes wrong is told in one line. */
  async attempt(work) {
    try {
      return await work();
    } catch (error) {
      if (error.kind === "Locked") locked(error.message);
      else page.say(error.message, null, true);
      return undefined;
    }
  },

  /** After a change: tell it, with its undo, and show what is now. */
  async done(what, title) {
    await page.refresh();
    if (what.memory && !document.body.classList.contains("new")) page.state = { ...page.state, memory: what.memory };
    history.replaceState(page.state, "", "/");
    await page.render();
    const entry = what.entries.at(-1);
    page.say(what.note || `${title}.`, entry ? () => page.undo(entry) : null);
  },

  undo: (entry) => page.attempt(async () => {
    const undone = await call("undo", { entry });
    await page.refresh();
    await page.render();
    page.say("Taken back.", () => page.undo(undone.entries.at(-1)), false, "Do it again");
  }),

  /** Take back all that one ingest or import did. */
  undoRun: (run) => page.attempt(async () => {
    await page.done(await call("undo_run", { run }), "Taken back");
  }),

  /** Say which of two memories that contradict each other holds. */
  decide: (older, newer, holds) => page.attempt(async () => {
    await page.done(await call("decide", { older, newer, holds }), "Decided");
  }),

  say(text, undo, problem, label) {
    show(notice, h("span", {}, text), undo && button(label || "Undo", undo, { class: "small" }), button("×", () => (notice.hidden = true), { class: "plain", "aria-label": "Close" }));
    notice.classList.toggle("problem", Boolean(problem));
    notice.hidden = false;
    clearTimeout(page.quiet);
    page.quiet = setTimeout(() => (notice.hidden = true), problem ? 12000 : 8000);
  },

  async refresh() {
    const now = await call("start");
    page.types = now.types;
    page.subclasses = new Map(now.subclasses.map((one) => [one.id, one]));
    page.latest = now.latest;
    page.overview = now;
    return now;
  },
};

/** What stands at the side, null where nothing does. */
async function beside(state) {
  if (state.memory) return memoryPanel(state.memory, page);
  if (state.view === "graph") return entityList(state.entity, state.beside, page);
  if (state.view === "answers" && state.turn) return reasonsPanel(state.turn, page);
  return null;
}

/** Above everything else: what contradicts, until it is decided. */
function undecided(pairs) {
  stage.querySelector(":scope > .undecided")?.remove();
  if (!pairs.length) return;
  const { older, newer } = pairs[0];
  const say = (label, holds) => button(label, () => page.decide(older.id, newer.id, holds), { class: "small" });
  stage.prepend(h("section", { class: "undecided", "aria-label": "To decide" },
    h("p", {}, "These contradict each other. Which is true?", pairs.length > 1 && h("span", { class: "quiet" }, ` ${pairs.length - 1} more to decide`)),
    [[older, "old"], [newer, "new"]].map(([memory, holds]) => h("p", { class: "pair" },
      h("button", { type: "button", class: "words", onclick: () => page.go({ memory: memory.id }) }, memory.text),
      h("span", { class: "quiet" }, ` ${TRUST[memory.trust] || ""} `), say("This one", holds))),
    say("Both are true", "both")));
}

/** Mark on the stage what is open at the side. */
function mark(state) {
  for (const one of stage.querySelectorAll(".node")) one.classList.toggle("touched", page.touched.has(one.dataset.entity));
  for (const one of stage.querySelectorAll("[data-memory], [data-turn]")) {
    const open = one.dataset.memory ? one.dataset.memory === state.memory : one.dataset.turn === state.turn;
    one.setAttribute("aria-current", open ? "true" : "false");
  }
}

function locked(message) {
  document.body.classList.add("locked");
  show(document.querySelector("main"), h("div", { class: "gate" }, h("h1", {}, "You have no access to this page"), h("p", {}, message), h("code", {}, "memlane web")));
}

// ---- keys -----------------------------------------------------------------------------------

const KEYS = {
  "/": () => $("search").focus(),
  g: () => page.go({ view: "graph" }),
  d: () => page.go({ view: "today" }),
  t: () => page.go({ view: "timeline" }),
  a: () => page.go({ view: "answers" }),
  c: () => page.go({ view: "changes" }),
  h: () => page.go({ ...first(), memory: null }),
  r: () => telling(page),
  e: () => side.querySelector("[data-act=edit]")?.click(),
  u: () => side.querySelector("[data-undo]:last-of-type")?.focus(),
  n: () => (stage.querySelector(".node[tabindex='0']") || stage.querySelector(".card, .turn, .change button"))?.focus(),
  l: () => side.querySelector("button.card, button.step, button")?.focus(),
  "?": () => help(),
  Backspace: () => page.state.depth > 0 && history.back(),
  Escape: () => page.state.memory && page.go({ memory: null }),
};

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select, dialog");
  if (typing || event.ctrlKey || event.metaKey || event.altKey || document.body.classList.contains("locked")) {
    if (event.key === "Escape" && event.target.closest("form.form")) page.render();
    return;
  }
  const act = KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

addEventListener("popstate", (event) => {
  if (!event.state) return;
  page.state = event.state;
  page.render();
});

let resized = 0;
addEventListener("resize", () => {
  clearTimeout(resized);
  resized = setTimeout(() => page.state.view === "graph" && page.types.length && page.render(), 200);
});

/** What others change meanwhile, as a note that is ingested, is told and shown when asked for. */
async function listen() {
  if (document.hidden || document.body.classList.contains("locked")) return;
  const before = page.latest;
  const { lines } = await call("journal", { limit: 1, grouped: false });
  if (page.latest !== before) return; // this page has changed it meanwhile, and said so with its undo
  const latest = lines.length ? lines[0].id : null;
  if (latest !== page.latest) {
    page.latest = latest;
    page.say("Your memory has changed.", async () => {
      await page.refresh();
      await page.render();
    }, false, "Show");
  }
}

async function begin() {
  if (!(await enter())) {
    locked("You need a one-time link to open it. Get one in a terminal:");
    return;
  }
  for (const one of document.querySelectorAll("button[data-view]")) one.addEventListener("click", () => page.go({ view: one.dataset.view }));
  $("tell").addEventListener("click", () => telling(page));
  $("help").addEventListener("click", () => help());
  searching($("search"), $("hits"), page);
  await page.refresh();
  page.state = history.state || first();
  history.replaceState(page.state, "", "/");
  await page.render();
  document.body.classList.add("ready");
  setInterval(() => listen().catch(() => {}), LOOK_MS);
}

begin().catch((error) => locked(error.message));
