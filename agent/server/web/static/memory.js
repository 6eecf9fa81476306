// One memory: what it says, where it was read, what became of it, and what can be done about it.

import { h, button, moment, named, said } from "./dom.js";
import { call } from "./api.js";
import { stand, TRUST } from "./cards.js";

const WHAT = {
  inserted: "remembered",
  replaced: "replaced",
  amended: "corrected",
  forgotten: "forgotten",
  erased: "erased",
  undone: "undone",
  redone: "redone",
  expired: "ended",
  expires: "will end",
};
const KINDS = {
  chat: "You told memlane",
  note: "A note of yours",
  screenshot: "A screenshot",
  calendar: "A calendar",
  contact: "A contact card",
  document: "A document",
  mail: "Saved mail",
  manual: "You typed it",
};

export async function memoryPanel(id, page) {
  const found = await call("look", { memory: id });
  const { memory } = found.card;
  page.touched = new Set(memory.triples.flatMap((one) => [one.head, one.tail]));
  const place = page.subclasses.get(memory.subclass);
  const holder = h("div", { class: "holder" });
  const standing = found.card.stand;
  const current = memory.status === "current";

  const facts = [
    ["Belongs to", `${memory.type} · ${place ? place.name : memory.subclass}`],
    ["Told", moment(memory.created)],
    memory.valid_from && [standing === "planned" ? "Begins" : "Since", moment(memory.valid_from)],
    memory.valid_until && [standing === "holds" || standing === "planned" ? "Until" : "Ended", moment(memory.valid_until)],
    memory.place && ["Place", memory.place],
    memory.pinned && ["Pinned", "memlane never proposes to forget it"],
    memory.trust && ["Trust", TRUST[memory.trust] || memory.trust],
  ].filter(Boolean);

  const actions = current && h(
    "div",
    { class: "actions" },
    button("Edit", () => editing(found, holder, page), { "data-act": "edit" }),
    button("It changed", () => changed(found, holder, page), { "data-act": "change" }),
    button(memory.pinned ? "Unpin" : "Pin", () => pinning(found, page), { "data-act": "pin" }),
    button("Forget", () => leaving(found, page), { "data-act": "forget", class: "warn" }),
  );
  holder.append(
    h("blockquote", { class: "saying" }, memory.text),
    standing === "holds" ? "" : h("p", {}, stand(found.card), memory.replaced_by && [" by ", link(memory.replaced_by, page)]),
    actions || "",
  );
  return [
    h(
      "header",
      { class: `head memory ${memory.type}` },
      button("‹ Back", () => page.go({ memory: null }), { class: "plain", "aria-label": "Back to the list" }),
      h("span", { class: "quiet" }, memory.id),
    ),
    holder,
    h("dl", { class: "facts" }, facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
    memory.triples.length > 0 && relations(memory, page),
    found.source && excerpt(found.source),
    history(found, page),
  ];
}

function link(id, page) {
  return button(id, () => page.go({ memory: id }), { class: "plain" });
}

function relations(memory, page) {
  const entity = (name) => button(named(name), () => page.walk(name), { class: `entity ${memory.type}` });
  return h(
    "section",
    { class: "part" },
    h("h3", {}, "Joins"),
    h("ul", { class: "joins" }, memory.triples.map((one) =>
      h("li", {}, entity(one.head), h("span", { class: "quiet" }, said(one.relation)), entity(one.tail)))),
  );
}

function excerpt(source) {
  const from = KINDS[source.kind] || source.kind;
  return h(
    "section",
    { class: "part" },
    h("h3", {}, "Where it comes from"),
    h("p", { class: "quiet" }, `${from}, ${moment(source.captured)}`, source.part && ` · ${source.part}`, source.place && ` · ${source.place}`),
    source.locator && h("p", { class: "path" }, source.locator),
    h(
      "div",
      { class: "excerpt", tabindex: "0", "aria-label": "The source" },
      source.before,
      source.said && h("mark", {}, source.said),
      source.after,
      source.more && h("span", { class: "quiet" }, " … the source goes on"),
    ),
  );
}

function history(found, page) {
  return h(
    "section",
    { class: "part" },
    h("h3", {}, "Its life"),
    h("ol", { class: "life" }, found.moments.map((one) =>
      h(
        "li",
        { class: one.undone_by ? "undone" : null },
        h("span", { class: "when" }, moment(one.at)),
        h(
          "div",
          {},
          h("strong", {}, WHAT[one.what] || one.what),
          h("span", { class: "quiet" }, one.actor === "user" ? " by you" : "", one.source && ` · ${one.source}`),
          one.before && one.after ? h("p", {}, h("del", {}, one.before), h("ins", {}, one.after)) : h("p", {}, one.detail),
          one.undone_by && h("p", { class: "quiet" }, `undone by ${one.undone_by}`),
        ),
        one.undoable && button("Undo", () => page.undo(one.entry), { class: "small", "data-undo": one.entry }),
      ))),
  );
}

// ---- changes --------------------------------------------------------------------------------

/** `act` does it and gives what was done; the person is told, and may take it back at once. */
function form(title, fields, label, act, page, hint) {
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const element = h(
    "form",
    {
      class: "form",
      "aria-label": title,
      onsubmit: async (event) => {
        event.preventDefault();
        problem.hidden = true;
        try {
          await page.done(await act(), title);
        } catch (error) {
          problem.textContent = error.message;
          problem.hidden = false;
        }
      },
      onkeydown: (event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) element.requestSubmit();
      },
    },
    fields,
    problem,
    hint && h("p", { class: "quiet" }, hint),
    h("div", { class: "actions" }, h("button", { type: "submit", class: "strong" }, label), button("Cancel", () => page.render(), {})),
  );
  return element;
}

const field = (label, input) => h("label", {}, h("span", {}, label), input);
const written = (iso) => (iso ? iso.slice(0, 16).replace("T", " ").replace(/ 00:00$/, "") : "");

function editing(found, holder, page) {
  const { memory } = found.card;
  const before = {
    text: memory.text,
    subclass: memory.subclass,
    valid_from: written(memory.valid_from),
    valid_until: written(memory.valid_until),
    place: memory.place || "",
  };
  const inputs = {
    text: h("textarea", { rows: 3, name: "text", value: before.text }),
    subclass: h("select", { name: "subclass" }, [...page.subclasses.values()].map((one) =>
      h("option", { value: one.id, selected: one.id === before.subclass }, `${one.type} · ${one.name}`))),
    valid_from: h("input", { name: "valid_from", value: before.valid_from, placeholder: "not told" }),
    valid_until: h("input", { name: "valid_until", value: before.valid_until, placeholder: "open" }),
    place: h("input", { name: "place", value: before.place, placeholder: "not told" }),
  };
  const act = () => {
    const asked = { memory: memory.id, seen: found.seen };
    for (const [name, input] of Object.entries(inputs)) if (input.value !== before[name]) asked[name] = input.value;
    return call("edit", asked);
  };
  holder.replaceChildren(form(
    "Edit",
    [
      field("What is right", inputs.text),
      field("Belongs to", inputs.subclass),
      h("div", { class: "pair" }, field("Since", inputs.valid_from), field("Until", inputs.valid_until)),
      field("Place", inputs.place),
    ],
    "Save",
    act,
    page,
    "Use this if the memory was wrong from the start. Days can be written as 2024-05-12 or “next Friday”.",
  ));
  inputs.text.focus();
}

function changed(found, holder, page) {
  const text = h("textarea", { rows: 3, name: "text", value: found.card.memory.text });
  holder.replaceChildren(form(
    "It changed",
    [field("What is true now", text)],
    "Replace",
    () => call("supersede", { memory: found.card.memory.id, seen: found.seen, text: text.value }),
    page,
    "The old memory stays as history.",
  ));
  text.focus();
  text.select();
}

async function pinning(found, page) {
  const { memory } = found.card;
  await page.attempt(async () => {
    const done = await call("pin", { memory: memory.id, seen: found.seen, pinned: !memory.pinned });
    await page.done(done, memory.pinned ? "No longer pinned" : "Pinned");
  });
}

async function leaving(found, page) {
  const { memory } = found.card;
  await page.attempt(async () => {
    await page.done(await call("leave", { memory: memory.id, seen: found.seen }), "Forgotten; undo works for 30 days");
  });
}

