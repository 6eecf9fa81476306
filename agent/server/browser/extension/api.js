// Talks to memlane on this machine. The token goes only to a program that has proved to know its
// hash: while memlane is down, another program may listen at its port.

export const api = globalThis.browser ?? globalThis.chrome;
const OWN = api.runtime.getURL("").replace(/\/$/, "");
const WAIT_MS = 120_000;
const hex = (buffer) => [...new Uint8Array(buffer)].map((b) => b.toString(16).padStart(2, "0")).join("");
const bytes = (text) => new TextEncoder().encode(text);

export class Unpaired extends Error {}

export async function pairing() {
  return (await api.storage.local.get("pairing")).pairing ?? null;
}

// "8766-1234-5678": the port, then the code.
export async function pair(typed, name) {
  const found = /^\s*(\d{2,5})\s*-\s*([\d\s-]+)$/.exec(typed);
  if (!found) throw new Error("A code looks like 8766-1234-5678.");
  const port = Number(found[1]);
  const { token } = await post(port, "pair", { code: found[2], name }, null);
  proved = null;
  await api.storage.local.set({ pairing: { port, token } });
}

let proved = null;

export async function ask(name, body) {
  const known = await pairing();
  if (!known) throw new Unpaired("This browser is not paired yet.");
  proved ??= prove(known);
  try {
    await proved;
  } catch (error) {
    proved = null;
    throw error;
  }
  return post(known.port, name, body, known.token);
}

async function prove({ port, token }) {
  const nonce = hex(crypto.getRandomValues(new Uint8Array(32)));
  const digest = await crypto.subtle.digest("SHA-256", bytes(token));
  const key = await crypto.subtle.importKey(
    "raw", digest, { name: "HMAC", hash: "SHA-256" }, false, ["sign"],
  );
  const expected = hex(await crypto.subtle.sign("HMAC", key, bytes(nonce)));
  const { proof } = await post(port, "hello", { nonce }, null);
  if (proof !== expected) throw new Unpaired(`Another program answers at port ${port}.`);
}

async function post(port, name, body, token) {
  const headers = { "Content-Type": "application/json", "Memlane-Extension": OWN };
  if (token) headers.Authorization = `Bearer ${token}`;
  let answer;
  try {
    answer = await fetch(`http://127.0.0.1:${port}/browser/${name}`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
      credentials: "omit",
      cache: "no-store",
      redirect: "error",
      signal: AbortSignal.timeout(WAIT_MS),
    });
  } catch {
    throw new Error("memlane does not answer. Start it in a terminal: memlane up");
  }
  const said = await answer.json().catch(() => null);
  if (answer.ok && said) return said;
  const message = said?.error?.message ?? "Another program answers in place of memlane.";
  throw answer.status === 401 || (answer.status === 403 && name === "hello")
    ? new Unpaired(message)
    : new Error(message);
}
