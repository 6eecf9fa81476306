// Reads the fields of a page that a person sees, as the plain HTML that memlane reads: no scripts,
// nothing that was typed. Each field begins with its number.

globalThis.memlaneRead ??= (() => {
  const SILENT = new Set(
    ("script style noscript template svg math canvas video audio object embed head title datalist" +
      " picture img").split(" "),
  );
  const NO_FIELD = new Set("hidden image reset file range color".split(" "));
  const OWN = {
    form: ["id", "name", "class", "aria-label"],
    fieldset: [],
    legend: [],
    label: [],
    button: [],
  };
  const ASKS =
    "type name autocomplete placeholder title aria-label pattern minlength maxlength".split(" ");
  const scopes = new WeakMap();
  let scopeCount = 0;

  const escaped = (text) =>
    text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
  const attribute = (name, value) => (value ? ` ${name}="${escaped(value)}"` : "");

  // Ids count within one shadow tree only.
  function scoped(node, id) {
    if (!id) return "";
    const root = node.getRootNode();
    if (root === document) return id;
    if (!scopes.has(root)) scopes.set(root, ++scopeCount);
    return `${id}--${scopes.get(root)}`;
  }

  function shadowOf(element) {
    if (element.shadowRoot) return element.shadowRoot;
    if (!(element instanceof HTMLElement)) return null;
    if (element.openOrClosedShadowRoot) return element.openOrClosedShadowRoot;
    return globalThis.chrome?.dom?.openOrClosedShadowRoot(element) ?? null;
  }

  function isSeen(element) {
    const box = element.getBoundingClientRect();
    return (
      box.width > 1 &&
      box.height > 1 &&
      box.right + scrollX > 0 &&
      box.bottom + scrollY > 0 &&
      element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) &&
      !element.closest("[inert]")
    );
  }

  // Boxes and buttons are often drawn by their label, the input itself being out of sight.
  function isOffered(field) {
    if (field.disabled || field.readOnly) return false;
    const drawn = field.type === "radio" || field.type === "checkbox";
    return isSeen(field) || (drawn && [...(field.labels ?? [])].some(isSeen));
  }

  return function read() {
    const parts = [];
    const elements = [];

    function field(element, tag) {
      if (tag === "input" && (element.type === "submit" || element.type === "button")) {
        parts.push(`<input type="submit"${attribute("value", element.value)}>`);
        return;
      }
      if (NO_FIELD.has(element.type) || element.multiple || !isOffered(element)) return;
      parts.push(`<${tag} data-memlane="${elements.push(element) - 1}"`);
      for (const name of ASKS) parts.push(attribute(name, element.getAttribute(name)));
      parts.push(attribute("id", scoped(element, element.id)));
      const named = (element.getAttribute("aria-labelledby") ?? "").split(/\s+/);
      parts.push(attribute("aria-labelledby", named.map((id) => scoped(element, id)).join(" ").trim()));
      if (element.type === "radio" || element.type === "checkbox") {
        parts.push(` value="${escaped(element.value)}"`);
      }
      parts.push(">");
      if (tag === "textarea") parts.push("</textarea>");
      if (tag !== "select") return;
      for (const option of element.options) {
        parts.push(`<option value="${escaped(option.value)}">${escaped(option.text)}</option>`);
      }
      parts.push("</select>");
    }

    function walk(node) {
      if (node.nodeType === Node.TEXT_NODE) {
        const seen = node.parentElement && getComputedStyle(node.parentElement).visibility;
        if (seen === "visible" || !node.parentElement) parts.push(escaped(node.data));
        return;
      }
      if (node.nodeType !== Node.ELEMENT_NODE) return;
      const tag = node.localName;
      if (SILENT.has(tag)) return;
      if (tag === "input" || tag === "select" || tag === "textarea") {
        field(node, tag);
        return;
      }
      if (tag === "iframe") {
        if (isSeen(node)) parts.push('<iframe src="frame"></iframe>');
        return;
      }
      if (getComputedStyle(node).display === "none") return;
      const shown = Object.hasOwn(OWN, tag) ? tag : "div";
      parts.push(`<${shown}`);
      for (const name of OWN[shown] ?? []) parts.push(attribute(name, node.getAttribute(name)));
      if (tag === "label") parts.push(attribute("for", scoped(node, node.htmlFor)));
      if (shown === "div") parts.push(attribute("id", scoped(node, node.id)));
      if (tag === "form" && node.getAttribute("action")) parts.push(attribute("action", target(node)));
      parts.push(">");
      inside(node).forEach(walk);
      parts.push(`</${shown}>`);
    }

    function inside(element) {
      const given = element.localName === "slot" ? element.assignedNodes() : [];
      return given.length ? given : [...(shadowOf(element) ?? element).childNodes];
    }

    function target(form) {
      try {
        const url = new URL(form.getAttribute("action"), document.baseURI);
        return url.origin === "null" ? "" : url.origin + url.pathname;
      } catch {
        return "";
      }
    }

    walk(document.documentElement);
    return { page: parts.join(""), elements };
  };
})();
