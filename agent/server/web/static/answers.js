// Questions and answers, and how each answer came about.

import { h, button, show, moment, count } from "./dom.js";
import { call, stream } from "./api.js";

export async function drawAnswers(stage, state, page) {
  const { turns } = await call("answers", {});
  const said = h("p", { class: "fresh", "aria-live": "polite", hidden: true });
  const input = h("input", { name: "question", placeholder: "Ask your memory…", autocomplete: "off", "aria-label": "Ask your memory" });
  const words = h("input", { type: "checkbox", name: "words", checked: page.inWords });
  const ask = h(
    "form",
    {
      class: "ask",
      onsubmit: (event) => {
        event.preventDefault();
        page.attempt(() => asking(input, words.checked, said, page));
      },
    },
    input,
    h("button", { type: "submit", class: "strong" }, "Ask"),
    h("label", { class: "quiet", title: "Without it only the memories are shown, at once" }, words, " in words"),
  );
  const list = h("ol", { class: "turns" }, turns.map((turn) =>
    h("li", {}, h(
      "button",
      { type: "button", class: "turn", "data-turn": turn.turn, onclick: () => page.go({ turn: turn.turn, memory: null }) },
      h("span", { class: "asked" }, turn.question),
      h("span", { class: "reply" }, turn.answer || "Only the memories, no answer"),
      h("span", { class: "meta" }, moment(turn.at)),
    ))));
  show(stage, h("div", { class: "column" },
    h("header", { class: "head wide" }, h("h1", {}, "Answers"), h("p", { class: "quiet" }, "Your questions, and the memories that each answer used.")),
    ask, said,
    turns.length ? list : h("p", { class: "empty" }, "No questions yet. Try “What do I like?”")));
}

async function asking(input, words, said, page) {
  const question = input.value;
  page.inWords = words;
  said.hidden = false;
  said.textContent = words ? "Reading…" : "Looking…";
  let text = "";
  try {
    const reply = await stream("ask", { question, use_llm: words }, (piece) => {
      text += piece;
      said.textContent = text;
    });
    await page.go({ view: "answers", turn: reply.turn });
  } catch (error) {
    said.hidden = true;
    throw error;
  }
}

/** The decisions behind an answer, each under the memory that it was reached from. */
export async function reasonsPanel(turn, page) {
  const found = await call("why", { turn });
  const { steps } = found;
  const known = new Set(steps.map((step) => step.memory));
  const below = new Map();
  for (const step of steps) {
    const via = known.has(step.via) && step.via !== step.memory ? step.via : null;
    below.set(via, [...(below.get(via) || []), step]);
  }
  const told = new Set();
  const rows = [];
  const walk = (via, depth) => {
    for (const step of below.get(via) || []) {
      if (told.has(step.memory)) continue; // an imported trace may go in circles
      told.add(step.memory);
      rows.push({ step, depth });
      walk(step.memory, depth + 1);
    }
  };
  walk(null, 0);
  const chosen = rows.filter(({ step }) => step.chosen);
  const left = rows.filter(({ step }) => !step.chosen);
  return [
    h("header", { class: "head" }, h("h2", {}, "Why"), h("p", { class: "quiet" }, `${found.turn.turn} · ${moment(found.turn.at)}`)),
    h("p", { class: "asked" }, found.turn.question),
    found.turn.answer && h("blockquote", { class: "saying" }, found.turn.answer),
    h("p", {}, found.words),
    h("ol", { class: "steps", "aria-label": "Chosen memories" }, chosen.map((row) => decision(row, page))),
    left.length > 0 && h("details", { class: "left" }, h("summary", {}, `${count(left.length, "memory", "memories")} left out`),
      h("ol", { class: "steps" }, left.map((row) => decision(row, page)))),
    found.cut > 0 && h("p", { class: "quiet" }, `${found.cut.toLocaleString("en")} more were not kept.`),
  ];
}

function decision({ step, depth }, page) {
  const sure = step.probability === null ? step.score : step.probability;
  const details = `${sure.toFixed(2)}${step.activated ? " · started here" : ""}${step.reason ? ` · ${step.reason}` : ""}`;
  return h(
    "li",
    { class: [step.used && "used", step.activated && "begun", step.chosen ? "chosen" : "out"].filter(Boolean).join(" "), "data-depth": Math.min(depth, 6) },
    h("button", { type: "button", class: `step ${step.type || ""}`, disabled: step.text === null, onclick: () => page.go({ memory: step.memory }) },
      h("span", { class: "sentence" }, step.text === null ? "Forgotten since" : step.text),
      h("span", { class: "meta", title: details },
        h("meter", { min: 0, max: 1, value: Math.max(0, Math.min(1, sure)), "aria-label": step.probability === null ? "fit" : "probability" }),
        step.used ? "used in the answer" : step.chosen ? "read" : "left out")),
  );
}
