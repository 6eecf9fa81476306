// In the page, in a world of its own: reads the form, types what the person accepted, and notices
// what they change of it. The page sees what is typed, and nothing before that.

globalThis.memlaneOpen ??= (() => {
  const api = globalThis.browser ?? globalThis.chrome;
  const SECRET = /(^|\s)(one-time-code|current-password|new-password|cc-csc)(\s|$)/;
  let reading = { id: "", elements: [] };

  function read() {
    const { page, elements } = globalThis.memlaneRead();
    reading = { id: String(crypto.getRandomValues(new Uint32Array(4))), elements };
    const taken = elements.map((e, n) => (isText(e) && e.value ? n : -1)).filter((n) => n >= 0);
    return { id: reading.id, page, taken };
  }

  const isText = (element) =>
    element.localName !== "select" && element.type !== "radio" && element.type !== "checkbox";

  // The numbers of the fields that did not take their value.
  async function write({ id, values }) {
    if (id !== reading.id) throw new Error("The page has changed. Open memlane again.");
    const elements = reading.elements;
    for (const one of values) put(elements[one.element], one.value);
    await new Promise((resolve) => setTimeout(resolve, 60));
    const failed = [];
    for (const one of values) {
      const element = elements[one.element];
      if (holds(element, one.value)) notice(element, one, `${id} ${one.element}`);
      else failed.push(one.element);
    }
    return { failed };
  }

  function put(element, value) {
    if (!element.isConnected || element.disabled || element.readOnly) return;
    if (element.type === "password" || SECRET.test(element.autocomplete)) return;
    if (element.type === "radio" || element.type === "checkbox") {
      if (element.checked !== (element.type === "radio" || value === true)) element.click();
      return;
    }
    const kind = { select: HTMLSelectElement, textarea: HTMLTextAreaElement }[element.localName];
    const prototype = (kind ?? HTMLInputElement).prototype;
    element.focus({ preventScroll: true });
    // The setter of the prototype: frameworks put one of their own on the element to hear of changes.
    Object.getOwnPropertyDescriptor(prototype, "value").set.call(element, String(value));
    const typed = { bubbles: true, composed: true };
    element.dispatchEvent(new InputEvent("input", { ...typed, inputType: "insertText", data: String(value) }));
    element.dispatchEvent(new Event("change", { bubbles: true }));
    // A document without the focus fires neither, and many forms check a field when it is left.
    element.dispatchEvent(new FocusEvent("blur"));
    element.dispatchEvent(new FocusEvent("focusout", typed));
    element.blur();
  }

  const holds = (element, value) =>
    element.isConnected &&
    (element.type === "radio" || element.type === "checkbox"
      ? element.checked === (element.type === "radio" || value === true)
      : element.value !== "" && (isText(element) || element.value === String(value)));

  function notice(element, filled, key) {
    const group =
      element.type === "radio" && element.name
        ? [...element.getRootNode().querySelectorAll('input[type="radio"]')].filter(
            (other) => other.name === element.name && other.form === element.form,
          )
        : [element];
    if (element.type === "checkbox") return;
    const before = told(group);
    let typed = false;
    const look = (event) => {
      if (event.isTrusted && event.type === "input") typed = true;
      if (!typed || event.type === "input") return;
      const now = told(group);
      const was = isText(element) ? String(filled.value) : before;
      const { label, key: asks, memories } = filled;
      // Nobody may listen: the extension was updated or removed.
      api.runtime
        .sendMessage({ key, change: now === before ? null : { label, key: asks, was, now, memories } })
        .catch(() => {});
    };
    for (const one of group) {
      for (const type of ["input", "change", "blur"]) one.addEventListener(type, look);
    }
  }

  // What a person sees chosen or typed.
  function told(group) {
    const element = group.length > 1 ? (group.find((one) => one.checked) ?? group[0]) : group[0];
    if (element.localName === "select") return element.selectedOptions[0]?.text ?? "";
    if (element.type === "radio") return (element.labels?.[0]?.innerText ?? element.value).trim();
    return element.value;
  }

  api.runtime.onMessage.addListener((message, sender, answer) => {
    if (sender.id !== api.runtime.id || sender.tab) return undefined;
    if (message.do === "read") answer(read());
    if (message.do !== "write") return undefined;
    write(message).then(answer, (error) => answer({ error: error.message }));
    return true;
  });
  return true;
})();
