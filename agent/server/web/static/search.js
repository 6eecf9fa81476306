// The search field: entities by name, memories by their words, as they are typed.

import { h, show, named, count } from "./dom.js";
import { call } from "./api.js";
import { stand } from "./cards.js";

export function searching(input, box, page) {
  let at = -1;
  let asked = 0;
  let waiting = 0;
  let shown = ""; // the words that the open list is for
  const options = () => [...box.querySelectorAll("[role=option]")];

  function close() {
    box.hidden = true;
    at = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function mark(next) {
    const all = options();
    at = all.length ? (next + all.length) % all.length : -1;
    all.forEach((one, index) => one.setAttribute("aria-selected", index === at ? "true" : "false"));
    if (at >= 0) {
      input.setAttribute("aria-activedescendant", all[at].id);
      all[at].scrollIntoView({ block: "nearest" });
    }
  }

  /** `is` tells one found thing from another, so that a mark stays on it when the list is made anew. */
  function option(index, kind, is, act, ...inside) {
    const chosen = () => {
      close();
      input.blur();
      act();
    };
    // The field keeps its focus while the button is down, or the list would close under it.
    const held = (event) => event.preventDefault();
    return h("div", { role: "option", id: `hit-${index}`, class: kind, "data-is": is, "aria-selected": "false", onpointerdown: held, onclick: chosen }, ...inside);
  }

  async function look() {
    const text = input.value.trim();
    const mine = ++asked;
    if (!text) return close();
    const found = await call("search", { text });
    if (mine !== asked || document.activeElement !== input) return undefined; // typed on, or gone on, meanwhile
    const entities = found.entities.map((name, index) =>
      option(index, "entity", name, () => page.walk(name), h("b", {}, "◦"), named(name)));
    const hits = found.cards.map((one, index) =>
      option(entities.length + index, `hit ${one.memory.type} ${one.stand}`, one.memory.id, () => page.go({ memory: one.memory.id, view: "graph" }),
        h("i", { class: `dot ${one.memory.type}` }), h("span", {}, one.memory.text), stand(one)));
    const marked = options()[at]?.dataset.is;
    const rest = found.total - found.cards.length;
    show(box,
      entities, hits,
      rest > 0 && h("p", { class: "quiet" }, `${count(rest, "more memory", "more memories")}: add a word to narrow it`),
      !entities.length && !hits.length && h("p", { class: "quiet" }, "No results."));
    box.hidden = false;
    input.setAttribute("aria-expanded", "true");
    shown = text;
    at = options().findIndex((one) => one.dataset.is === marked);
    if (at >= 0) mark(at);
    return undefined;
  }

  /** Go to what is marked, else to the first, of what was typed and not of what stood there before. */
  async function choose() {
    clearTimeout(waiting);
    if (box.hidden || input.value.trim() !== shown) await look();
    if (!box.hidden && input.value.trim() === shown) options()[Math.max(at, 0)]?.click();
  }

  input.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => page.attempt(look), 120);
  });
  input.addEventListener("focus", () => input.value.trim() && page.attempt(look));
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      mark(at + (event.key === "ArrowDown" ? 1 : at < 0 ? 0 : -1));
      event.preventDefault();
    } else if (event.key === "Enter") page.attempt(choose);
    else if (event.key === "Escape") {
      close();
      input.blur();
    }
  });
}
