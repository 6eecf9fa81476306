// What the page asks of memlane. Every request carries the key of this tab, which the link's code
// was changed for; it lives in sessionStorage, so other tabs, sites and ports never send it.

const SLOT = "memlane-key";

export class Problem extends Error {
  constructor(message, kind) {
    super(message);
    this.kind = kind;
  }
}

/** Change the code of the link for a key, once, and take it out of the address and the history. */
export async function enter() {
  const code = new URLSearchParams(location.hash.slice(1)).get("enter");
  if (code !== null) {
    history.replaceState(null, "", "/");
    const { key } = await call("enter", { code });
    sessionStorage.setItem(SLOT, key);
  }
  return sessionStorage.getItem(SLOT) !== null;
}

async function request(name, asked, headers) {
  const key = sessionStorage.getItem(SLOT);
  try {
    return await fetch(`/api/${name}`, {
      method: "POST",
      body: JSON.stringify(asked || {}),
      headers: {
        "Content-Type": "application/json",
        ...(key ? { Authorization: `Bearer ${key}` } : {}),
        ...headers,
      },
    });
  } catch {
    throw new Problem("memlane does not answer: the page was closed. Open it again: memlane web", "Gone");
  }
}

/** One question, one answer. */
export async function call(name, asked) {
  const response = await request(name, asked);
  const said = await response.json();
  if (response.ok) return said;
  if (response.status === 401) sessionStorage.removeItem(SLOT);
  const { message, kind } = said.error;
  throw new Problem(message, response.status === 401 ? "Locked" : kind);
}

/** A question whose answer is written word by word. */
export async function stream(name, asked, onText) {
  const response = await request(name, asked, { Accept: "application/x-ndjson" });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  for (;;) {
    const { value, done } = await reader.read();
    const lines = (held + (value || "")).split("\n");
    held = done ? "" : lines.pop();
    for (const line of lines.filter(Boolean)) {
      const event = JSON.parse(line);
      if (event.error) throw new Problem(event.error.message, event.error.kind);
      if ("result" in event) return event.result;
      if ("text" in event) onText(event.text);
    }
    if (done) throw new Problem("memlane went away before it had answered.", "Gone");
  }
}
