// The day's digest: what comes, what is in doubt, what could be forgotten, what changed.

import { h, button, show, day } from "./dom.js";
import { call } from "./api.js";
import { card, TRUST } from "./cards.js";
import { row } from "./changes.js";

export async function drawToday(stage, state, page) {
  const found = await call("today");
  const part = (title, hint, items) => items.length > 0 && [h("h2", {}, title), hint && h("p", { class: "quiet" }, hint), items];
  const words = (id, ...text) => h("button", { type: "button", class: "words", onclick: () => page.go({ memory: id }) }, text);
  show(stage, h("div", { class: "column today" },
    h("header", { class: "head wide" }, h("h1", {}, "Today"), h("p", { class: "quiet" }, found.summary)),
    part("Coming", null, found.coming.map((one) => h("p", { class: "coming" },
      words(one.memory, h("span", { class: "quiet" }, `${day(one.when)}${one.all_day ? "" : `, ${one.when.slice(11, 16)}`} `), one.text)))),
    part("In doubt", null, found.doubts.map((one) => doubt(one, page, words))),
    part("Faded", "You did not tell these, and no answer used them. They stay until you forget them. A pin keeps one for good.",
      found.faded.map((one) => h("div", {}, card(one.card, page), h("p", { class: "quiet" },
        `${TRUST[one.card.memory.trust]}, half-life ${one.half_life_days} days: ${Math.round(100 * one.left)} % left`)))),
    part("Over", null, found.ended.map((one) => card(one, page))),
    part("Changed", null, [h("div", { class: "journal" }, found.changed.map((one) => row(one, page))), button("All changes", () => page.go({ view: "changes" }), { class: "plain" })].slice(found.changed.length ? 0 : 2))));
}

function doubt({ older, newer, probability }, page, words) {
  const say = (label, holds) => button(label, () => page.decide(older.id, newer.id, holds), { class: "small" });
  return h("section", { class: "undecided", "aria-label": "In doubt" },
    h("p", {}, probability === null ? "These contradict each other. Which is true?" : `The second may change the first (${Math.round(100 * probability)} %).`),
    [[older, "old"], [newer, "new"]].map(([memory, holds]) => h("p", { class: "pair" }, words(memory.id, memory.text), say("Only this one", holds))),
    say("Both are true", "both"));
}
