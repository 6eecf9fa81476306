// The rows of the popup. Everything is built of text: no string becomes markup.

export function node(tag, properties = {}, ...inside) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...inside);
  return made;
}

function proof(offer) {
  return offer.evidence.map((one) =>
    node("p", { className: "proof", title: one.memory }, `“${one.text}” `, node("span", {}, one.origin)),
  );
}

// A field that has values, or could have them. ``value()`` is what to type if the row is ticked.
export function fieldRow(field, { site, agree, taken, count }) {
  const withheld = field.needs === "card" || field.needs === "consent";
  if (withheld) return { ...asking(field, site, agree), needs: field.needs };
  const tick = node("input", {
    type: "checkbox", checked: field.filled && !taken, onchange: count, ariaLabel: `Fill ${field.label}`,
  });
  const from = node("div", {}, ...proof(field.offers[0]));
  let chosen = field.offers[0];
  const choose = node("select", {
    ariaLabel: `Value of ${field.label}`,
    onchange() {
      chosen = field.offers[choose.selectedIndex];
      from.replaceChildren(...proof(chosen));
      tick.checked = true;
      count();
    },
  }, ...field.offers.map((offer) => node("option", {}, offer.shown)));
  const several = field.offers.length > 1;
  const state = node("span", { className: "state" }, taken ? "has text" : field.filled ? "" : "your choice");
  const element = node("article", { className: "row" },
    node("label", {}, tick, node("span", { className: "label" }, field.label), state),
    several ? choose : node("p", { className: "value" }, chosen.shown),
    from,
    ...(field.note ? [node("p", { className: "hint" }, field.note)] : []),
  );
  return {
    element,
    needs: "",
    value: () => tick.checked && !tick.disabled && {
      element: chosen.element, value: chosen.value, label: field.label, key: field.key,
      memories: [...new Set(chosen.evidence.map((one) => one.memory))],
    },
    settle(failed) {
      if (tick.checked) state.textContent = failed.has(chosen.element) ? "not taken" : "filled";
      tick.disabled = choose.disabled = true;
    },
  };
}

function asking(field, site, agree) {
  const card = field.needs === "card";
  const question = card
    ? `Card fields stay empty on ${site} until you allow them.`
    : `Sensitive. Fill it from memory for ${site}?`;
  const never = node("button", { type: "button", onclick: () => agree(field.consent, false) }, "Never here");
  const element = node("article", { className: "row asks" },
    node("p", { className: "label" }, card ? "Payment card" : field.label),
    node("p", { className: "hint" }, question),
    node("div", { className: "buttons" }, ...(card ? [] : [never]),
      node("button", { type: "button", className: "main", onclick: () => agree(field.consent, true) },
        card ? "Allow card fields here" : "Allow here")),
  );
  return { element, value: () => null, settle() {} };
}

export function emptyList(fields, agree) {
  if (!fields.length) return "";
  const why = (field) =>
    field.needs === "refused" ? " you refused it here " : field.note ? ` ${field.note}` : "";
  const lines = fields.map((field) =>
    node("li", {}, node("span", { className: "label" }, field.label), node("span", { className: "hint" }, why(field)),
      field.needs === "refused"
        ? node("button", { type: "button", onclick: () => agree(field.consent, true) }, "Allow")
        : ""),
  );
  const count = fields.length === 1 ? "1 field stays empty" : `${fields.length} fields stay empty`;
  return node("details", {}, node("summary", {}, count), node("ul", {}, ...lines));
}

// Values that the person changed after they were filled in.
export function changeRow(labels, proposal, { accept, drop }) {
  const text = node("textarea", { value: proposal.text, rows: 2, ariaLabel: "What to remember" });
  const gone = () => element.remove();
  const element = node("article", { className: "row asks" },
    node("p", { className: "label" }, `You changed ${labels}`),
    node("p", { className: "hint" }, proposal.replaces
      ? `In place of “${proposal.old}” (it stays as history):` : "Remember:"),
    text,
    node("div", { className: "buttons" },
      node("button", { type: "button", onclick: async () => { await drop(); gone(); } }, "No"),
      node("button", {
        type: "button", className: "main",
        onclick: async () => { if (await accept(text.value)) gone(); },
      }, "Remember")),
  );
  return element;
}
