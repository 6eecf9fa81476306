// Memories by the day they are about: what is ahead, then up to today, under a skyline of months.

import { h, s, button, show, day, monthName, memories } from "./dom.js";
import { call } from "./api.js";
import { card } from "./cards.js";
import { legend } from "./graph.js";

const BARS = 96; // months that the skyline shows at once

export async function drawTimeline(stage, state, page) {
  const asked = (offset) => ({ before: state.before || null, type: state.type || null, limit: 60, offset });
  const first = await call("in_time", asked(0));
  const ahead = state.before ? { cards: [], total: 0 } : await call("in_time", { ...asked(0), ahead: true });
  const list = h("div", { class: "days" });
  let shown = 0;
  let lastDay = null;
  let total = first.total;

  function put(cards) {
    shown += cards.length;
    for (const one of cards) {
      if (one.day !== lastDay) list.append(h("h3", {}, day(one.day)));
      lastDay = one.day;
      list.append(card(one, page, { dated: false }));
    }
  }

  if (ahead.cards.length) {
    list.append(h("h2", {}, "Ahead"));
    put(ahead.cards);
    if (ahead.total > ahead.cards.length) list.append(h("p", { class: "quiet" }, `${(ahead.total - ahead.cards.length).toLocaleString("en")} more later`));
    list.append(h("h2", {}, "Up to today"));
    [shown, lastDay] = [0, null];
  }
  put(first.cards);
  const foot = h("div", { class: "more" });
  const more = button("Earlier", () => page.attempt(async () => {
    const next = await call("in_time", asked(shown));
    total = next.total || total;
    put(next.cards);
    if (shown >= total || !next.cards.length) foot.replaceChildren();
  }), { class: "plain" });
  if (shown < total) {
    foot.append(more);
    // Reaching the end of the list is asking for more of it.
    new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && foot.isConnected && more.click(), { root: stage }).observe(foot);
  }
  show(
    stage,
    h("div", { class: "column" },
      h("header", { class: "head wide" },
        h("h1", {}, state.before ? `Before ${monthName(state.before.slice(0, 7))}` : "Timeline"),
        h("p", { class: "quiet" }, memories(total + ahead.total), state.before && [" · ", button("Back to the latest", () => page.go({ before: null }), { class: "plain" })])),
      skyline(first.months, state, page),
      legend(state, page),
      list,
      foot),
  );
}

/** How much there is of each month; a month can be gone to. */
function skyline(months, state, page) {
  const shown = months.slice(-BARS);
  if (shown.length < 2) return null;
  const most = Math.max(...shown.map((one) => one.memories));
  const width = 100 / shown.length;
  const bars = shown.map((one, index) => {
    const height = 6 + 50 * Math.sqrt(one.memories / most);
    const label = `${monthName(one.month)}: ${memories(one.memories)}`;
    return s(
      "g",
      { class: "bar", role: "button", tabindex: "0", "aria-label": label, onclick: () => goTo(one.month), onkeydown: (event) => event.key === "Enter" && goTo(one.month) },
      s("rect", { class: "ground", x: `${index * width}%`, y: 0, width: `${width}%`, height: 60 }),
      s("rect", { x: `${(index + 0.14) * width}%`, y: 60 - height, width: `${width * 0.72}%`, height, rx: 2 }),
      s("title", {}, label),
    );
  });
  function goTo(month) {
    const [year, number] = month.split("-").map(Number);
    const next = number === 12 ? `${year + 1}-01` : `${year}-${String(number + 1).padStart(2, "0")}`;
    page.go({ before: month === months.at(-1).month ? null : `${next}-01` });
  }
  return h(
    "div",
    { class: "skyline" },
    s("svg", { height: 60, width: "100%", role: "group", "aria-label": "Months" }, bars),
    h("div", { class: "ends quiet" }, h("span", {}, monthName(shown[0].month)), h("span", {}, monthName(shown.at(-1).month))),
  );
}
