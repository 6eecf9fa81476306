// The journal: what was remembered and changed, by memlane and by the person, and taking it back.

import { h, button, show, day, count } from "./dom.js";
import { call } from "./api.js";

const DID = {
  insert: "remembered",
  expire: "remembered until a day",
  replace: "replaced",
  amend: "corrected",
  forget: "forgot",
  erase: "forgot for good",
  undo: "undid",
};

export async function drawChanges(stage, state, page) {
  const list = h("div", { class: "journal" });
  const foot = h("div", { class: "more" });
  let before = null;
  let lastDay = null;
  async function more() {
    const { lines, more: left } = await call("journal", { before, limit: 40 });
    for (const line of lines) {
      const date = line.at.slice(0, 10);
      if (date !== lastDay) list.append(h("h3", {}, day(date)));
      lastDay = date;
      list.append(row(line, page));
      before = line.id;
    }
    foot.replaceChildren(...(left ? [button("Earlier", () => page.attempt(more), { class: "plain" })] : []));
    return lines.length;
  }
  const any = await more();
  show(stage, h("div", { class: "column" },
    h("header", { class: "head wide" }, h("h1", {}, "Changes"), h("p", { class: "quiet" }, "Every change, the latest first. Every change except permanent erasure can be undone and redone.")),
    any ? list : h("p", { class: "empty" }, "Nothing has changed yet."),
    foot));
}

/** What an ingest or an import did, in one line with one undo. */
function ofRun(line, page) {
  return h(
    "div",
    { class: "change run", "data-run": line.run },
    h("span", { class: "when" }, line.at.slice(11, 16)),
    h("div", {},
      h("p", { class: "did" }, h("strong", {}, "memlane"), ` took in ${line.what} `, h("span", { class: "quiet" }, line.run)),
      h("p", { class: "quiet" }, `${count(line.edits, "change")}, the last one: ${line.after || line.before || ""}`)),
    button("Undo all", () => page.undoRun(line.run), { class: "small", "data-undo": line.run }),
  );
}

export function row(line, page) {
  if (line.run) return ofRun(line, page);
  const who = line.actor === "user" ? "You" : line.actor === "auto" ? "memlane" : line.actor.replace(/^agent /, "");
  const what = line.undoes ? `${DID.undo} ${line.undoes}` : DID[line.kind] || line.kind;
  const before = line.before && line.before !== line.after ? h("del", {}, line.before) : null;
  return h(
    "div",
    { class: `change ${line.kind}${line.undone_by ? " undone" : ""}`, "data-entry": line.id },
    h("span", { class: "when" }, line.at.slice(11, 16)),
    h("div", {},
      h("p", { class: "did" }, h("strong", {}, who), ` ${what} `, h("span", { class: "quiet" }, line.id)),
      line.redacted
        ? h("p", { class: "quiet" }, "Its text is erased for good.")
        : h("button", { type: "button", class: "words", onclick: () => page.go({ memory: line.memory }) }, before, line.after && h("ins", {}, line.after)),
      line.undone_by && h("p", { class: "quiet" }, `undone by ${line.undone_by}`)),
    !line.undone_by && !line.redacted && button(line.undoes ? "Do again" : "Undo", () => page.undo(line.id), { class: "small", "data-undo": line.id }),
  );
}
