// The popup: pair, see each value with its evidence, agree, fill, decide on changes. The page cannot
// see into it, nor draw over it.

import { api, ask, pair, pairing, Unpaired } from "./api.js";
import { changeRow, fieldRow, emptyList } from "./rows.js";

const at = (id) => document.getElementById(id);
const show = (id, shown = true) => { at(id).hidden = !shown; };
let tab = null;
let reading = null;
let rows = [];

function say(text, kind = "") {
  at("note").textContent = text;
  at("note").className = kind;
  show("note", Boolean(text));
}

async function trying(work) {
  document.body.ariaBusy = "true";
  try {
    return await work();
  } catch (error) {
    say(error.message, at("changes").hidden ? "bad" : "");
    if (error instanceof Unpaired) show("pair");
    return null;
  } finally {
    document.body.ariaBusy = "false";
  }
}

async function start() {
  [tab] = await api.tabs.query({ active: true, currentWindow: true });
  const { note } = await api.storage.session.get("note");
  await api.storage.session.remove("note");
  if (!(await pairing())) {
    show("pair");
    at("code").focus();
    return;
  }
  await trying(showChanges);
  await trying(() => lookAt(false));
  if (note) say(note);
}

// ---- values -------------------------------------------------------------------------------------

async function lookAt(withModel) {
  if (!/^https?:/.test(tab?.url ?? "")) throw new Error("memlane fills web pages only.");
  say(withModel ? "The language model reads your memories …" : "Looking for values …");
  const target = { tabId: tab.id };
  await api.scripting.executeScript({ target, files: ["read.js", "page.js"] });
  reading = await api.tabs.sendMessage(tab.id, { do: "read" }, { frameId: 0 });
  await values(withModel);
}

async function values(withModel) {
  const form = await ask("fill", { page: reading.page, address: tab.url, use_llm: withModel });
  say(form.notes.join(" "));
  at("site").textContent = form.site;
  const agree = (field, given) =>
    trying(async () => {
      await ask("agree", { field, site: form.site, given });
      await values(withModel);
    });
  const taken = new Set(reading.taken);
  rows = form.fields
    .filter((field) => field.offers.length || field.needs === "consent" || field.needs === "card")
    .map((field) => fieldRow(field, { site: form.site, agree, taken: taken.has(field.element), count }));
  const cards = rows.filter((row) => row.needs === "card");
  const listed = rows.filter((row) => row.needs !== "card" || row === cards[0]);
  const left = form.fields.filter((field) => !field.offers.length && !["consent", "card"].includes(field.needs));
  at("fields").replaceChildren(...listed.map((row) => row.element), emptyList(left, agree));
  show("fields");
  show("actions");
  at("more").disabled = withModel || !left.length;
  count();
}

function count() {
  const chosen = rows.filter((row) => row.value()).length;
  at("fill").textContent = ["Fill", "Fill 1 field"][chosen] ?? `Fill ${chosen} fields`;
  at("fill").disabled = !chosen;
}

async function fill() {
  const values = rows.map((row) => row.value()).filter(Boolean);
  const done = await api.tabs.sendMessage(tab.id, { do: "write", id: reading.id, values }, { frameId: 0 });
  if (done.error) throw new Error(done.error);
  const failed = new Set(done.failed);
  for (const row of rows) row.settle(failed);
  const filled = values.length - failed.size;
  const refused = failed.size ? ` The page did not take ${failed.size}.` : "";
  say(`Filled ${filled}.${refused} Check them before you send the form.`, refused ? "bad" : "good");
  show("actions", false);
}

// ---- changes ------------------------------------------------------------------------------------

async function showChanges() {
  const name = `changes ${tab.id}`;
  const kept = (await api.storage.session.get(name))[name] ?? {};
  const keys = Object.keys(kept);
  if (!keys.length) return;
  const { proposals } = await ask("correct", { changes: Object.values(kept) });
  const drop = async (gone) => {
    for (const key of gone) delete kept[key];
    const count = Object.keys(kept).length;
    await api.storage.session.set({ [name]: kept });
    await api.action.setBadgeText({ text: count ? String(count) : "", tabId: tab.id });
    show("changes", count > 0);
  };
  const told = new Set(proposals.flatMap((one) => one.changes));
  await drop(keys.filter((_, n) => !told.has(n)));
  const made = proposals.map((proposal) => {
    const own = proposal.changes.map((n) => keys[n]);
    const accept = (text) =>
      trying(async () => {
        const { replaces, seen } = proposal;
        const done = await ask("accept", { text, replaces, seen });
        await drop(own);
        say(done.note || "Remembered.", "good");
        return true;
      });
    const labels = own.map((key) => kept[key].label).join(", ");
    return changeRow(labels, proposal, { accept, drop: () => drop(own) });
  });
  at("changes").replaceChildren(...made);
  show("changes", made.length > 0);
}

// ---- what is clicked ----------------------------------------------------------------------------

function browserName() {
  const brands = navigator.userAgentData?.brands.map((one) => one.brand) ?? [];
  const brand = brands.find((one) => !/not.?a.?brand|^chromium$/i.test(one));
  return brand ?? (navigator.userAgent.includes("Firefox") ? "Firefox" : "Chromium");
}

at("pair").addEventListener("submit", (event) => {
  event.preventDefault();
  trying(async () => {
    await pair(at("code").value, browserName());
    show("pair", false);
    await lookAt(false);
  });
});
at("fill").addEventListener("click", () => trying(fill));
at("more").addEventListener("click", () => trying(() => lookAt(true)));
start();
