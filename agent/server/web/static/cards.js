// Memories as cards, in lists that grow by the page.

import { h, button, shortDay, memories, named } from "./dom.js";
import { call } from "./api.js";

const STANDS = { replaced: "replaced", expired: "over", planned: "planned", forgotten: "forgotten" };
export const TRUST = {
  told: "You said it",
  noted: "From your note",
  recorded: "From a calendar or card",
  seen: "Read from a screenshot",
  read: "Read in a document or mail",
  relayed: "Somebody else's words",
};

/** What a memory is now, where that is not simply that it holds. */
export function stand(card) {
  return card.stand in STANDS && h("span", { class: `stand ${card.stand}` }, STANDS[card.stand]);
}

export function card(one, page, { dated = true } = {}) {
  const { memory } = one;
  const places = page.subclasses.get(memory.subclass);
  return h(
    "button",
    {
      type: "button",
      class: `card ${memory.type} ${one.stand}`,
      "data-memory": memory.id,
      onclick: () => page.go({ memory: memory.id }),
    },
    h("span", { class: "sentence" }, memory.text),
    h("span", { class: "meta" }, [dated && shortDay(one.day), places && places.name].filter(Boolean).join(" · "), stand(one)),
  );
}

/** A list of cards with a button for more; `fetch(offset)` gives a page of them. */
export async function growing(fetch, page) {
  const list = h("div", { class: "cards" });
  const foot = h("div", { class: "more" });
  let shown = 0;
  async function more() {
    const { cards, total } = await fetch(shown);
    shown += cards.length;
    list.append(...cards.map((one) => card(one, page)));
    foot.replaceChildren(
      ...(cards.length && shown < total
        ? [button(`${(total - shown).toLocaleString("en")} more`, () => page.attempt(more), { class: "plain" })]
        : []),
    );
    return total;
  }
  const total = await more();
  return { total, element: h("div", {}, list, foot) };
}

/** The memories at an entity, or those that join two. */
export async function entityList(entity, beside, page) {
  const fetch = (offset) => call("at", { entity, beside, limit: 30, offset });
  const { total, element } = await growing(fetch, page);
  return [
    h(
      "header",
      { class: "head" },
      h("h2", {}, beside ? `${named(entity)} and ${named(beside)}` : named(entity)),
      h("p", { class: "quiet" }, memories(total)),
      beside && button(`All of ${named(entity)}`, () => page.go({ beside: null }), { class: "plain" }),
    ),
    element,
  ];
}
