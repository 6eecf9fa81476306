// The first look at a home of which nothing is told yet, and what is said in a box of its own.

import { h, s, button, show } from "./dom.js";
import { call } from "./api.js";

const dialog = document.getElementById("dialog");
const IDEAS = ["My sister Ada lives in Lisbon.", "I drink my coffee black.", "The car is due for inspection in May 2027."];

function tellForm(page, label, done) {
  const input = h("textarea", { rows: 2, name: "fact", placeholder: "One fact, in one sentence", "aria-label": "One fact" });
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const element = h(
    "form",
    {
      class: "form",
      onsubmit: async (event) => {
        event.preventDefault();
        problem.hidden = true;
        try {
          const what = await call("tell", { text: input.value });
          done();
          await page.done(what, "Remembered");
        } catch (error) {
          problem.textContent = error.message;
          problem.hidden = false;
        }
      },
      onkeydown: (event) => {
        if (event.key === "Enter" && !event.shiftKey && event.target === input) {
          event.preventDefault();
          element.requestSubmit();
        }
      },
    },
    input,
    problem,
    h("div", { class: "actions" }, h("button", { type: "submit", class: "strong" }, label)),
  );
  return { element, input };
}

export function welcome(stage, side, page) {
  const { element, input } = tellForm(page, "Remember it", () => {});
  show(side);
  show(
    stage,
    h(
      "div",
      { class: "welcome" },
      s(
        "svg",
        { viewBox: "-150 -70 300 140", width: 300, height: 140, "aria-hidden": "true" },
        [[-110, -30, "Relationship"], [105, -42, "Event"], [-88, 42, "Preference"], [118, 30, "Attribute"]].map(([x, y, type]) => [
          s("path", { class: `thread ${type}`, d: `M0 0 C${x * 0.42} ${y * 0.1} ${x * 0.5} ${y} ${x} ${y}`, "stroke-width": 1.4 }),
          s("circle", { class: `seed ${type}`, cx: x, cy: y, r: 6 }),
        ]),
        s("circle", { class: "self", r: 26 }),
        s("text", { class: "self-name", y: 5, "text-anchor": "middle" }, "you"),
      ),
      h("h1", {}, "Your memory starts here"),
      h("p", {}, "Tell memlane one fact. It stays on this machine, you can change it at any time, and every change can be undone."),
      element,
      h("p", { class: "quiet" }, "For example: ", IDEAS.map((idea) => button(idea, () => {
        input.value = idea;
        input.focus();
      }, { class: "idea" }))),
      h("p", { class: "quiet" }, "Add notes, screenshots, documents, mail, calendars and contacts with ", h("code", {}, "memlane ingest FOLDER"), "."),
    ),
  );
  input.focus();
}

export function telling(page) {
  const { element, input } = tellForm(page, "Remember it", () => dialog.close());
  opened("Remember", element);
  input.focus();
}

export function help() {
  const keys = [
    ["/", "search"], ["n", "into the graph or list; arrows move, Enter walks on"], ["Space", "what joins the two"],
    ["Backspace", "back"], ["h", "back to you"], ["l", "into the memories at the side"], ["e", "edit the open memory"],
    ["r", "remember something"], ["g d t a c", "graph, today, timeline, answers, changes"], ["Esc", "close"],
  ];
  opened("Keys", h("dl", { class: "keys" }, keys.map(([key, what]) => h("div", {}, h("dt", {}, key.split(" ").map((one) => h("kbd", {}, one))), h("dd", {}, what)))),
    h("p", { class: "quiet" }, "Everything on this page stays on this machine. It closes with Ctrl-C where memlane web runs, or with memlane web --stop."));
}

function opened(title, ...parts) {
  show(dialog, h("header", { class: "head" }, h("h2", {}, title), button("×", () => dialog.close(), { class: "plain", "aria-label": "Close" })), ...parts);
  if (!dialog.open) dialog.showModal();
}
