// What goes on without the popup: the context menu, and changes of filled values until the person
// decides on them. They stay in the memory of the browser and go with their tab.

import { api, ask } from "./api.js";

const SHOWN_MS = 4000;

api.runtime.onInstalled.addListener(() => {
  api.contextMenus.create({ id: "fill", title: "Fill this form from memory", contexts: ["editable"] });
  api.contextMenus.create({ id: "select", title: "Remember this selection", contexts: ["selection"] });
});

api.contextMenus.onClicked.addListener((info, tab) => {
  if (info.menuItemId === "fill") api.action.openPopup();
  else remember(info.selectionText ?? "", info.frameUrl || info.pageUrl || "", tab);
});

async function remember(text, address, tab) {
  const at = tab?.id === undefined ? {} : { tabId: tab.id };
  try {
    const done = await ask("select", { text, address });
    await note(at, "✓", done.note || "The selection is remembered.");
    setTimeout(() => api.action.setBadgeText({ text: "", ...at }), SHOWN_MS);
  } catch (error) {
    await note(at, "!", `Not remembered: ${error.message}`);
  }
}

async function note(at, badge, text) {
  await api.action.setBadgeText({ text: badge, ...at });
  await api.storage.session.set({ note: text });
}

let queue = Promise.resolve(); // one after the other: each reads and writes what is kept of the tab

api.runtime.onMessage.addListener((message, sender) => {
  if (sender.id !== api.runtime.id || !sender.tab || typeof message.key !== "string") return;
  queue = queue.then(() => keep(sender.tab.id, message)).catch(console.error);
});

async function keep(tab, { key, change }) {
  const name = `changes ${tab}`;
  const changes = (await api.storage.session.get(name))[name] ?? {};
  delete changes[key];
  if (change?.now.trim()) changes[key] = change;
  const count = Object.keys(changes).length;
  await api.storage.session.set({ [name]: changes });
  await api.action.setBadgeText({ text: count ? String(count) : "", tabId: tab });
}

api.tabs.onRemoved.addListener((tab) => api.storage.session.remove(`changes ${tab}`));

// A new page clears the badge of its tab; what was changed on the one before still waits.
api.tabs.onUpdated.addListener(async (tab, { status }) => {
  if (status !== "complete") return;
  const name = `changes ${tab}`;
  const count = Object.keys((await api.storage.session.get(name))[name] ?? {}).length;
  if (count) await api.action.setBadgeText({ text: String(count), tabId: tab });
});
