// Elements made of text and attributes only. What a memory says can never become markup: nothing
// here, or anywhere in the page, turns a string into HTML, and the page's policy forbids it.

const SVG = "http://www.w3.org/2000/svg";

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "selected") element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** An HTML element: h("p", {class: "quiet"}, "text", otherElement). */
export function h(tag, attributes, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function s(tag, attributes, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

/** A button with a word on it. */
export function button(label, onclick, attributes) {
  return h("button", { type: "button", onclick, ...attributes }, label);
}

/** Put children into an element in the place of what is there. */
export function show(element, ...children) {
  element.replaceChildren(...children.flat(3).filter(Boolean));
}

// ---- words and days -------------------------------------------------------------------------

const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric" });
const SHORT = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const MONTH = new Intl.DateTimeFormat("en-GB", { month: "long", year: "numeric" });

// Times are shown as they were told: the clock of the place they were told in, not of this browser.
function wall(iso) {
  const [, year, month, day, clock] = /^(\d+)-(\d\d)-(\d\d)(?:T(\d\d:\d\d))?/.exec(iso) || [];
  return { date: new Date(+year, +month - 1, +day), clock: clock || "00:00" };
}

export function day(iso) {
  return DAY.format(wall(iso).date);
}

export function shortDay(iso) {
  return SHORT.format(wall(iso).date);
}

/** The day, and the time where there is one worth telling. */
export function moment(iso) {
  const { date, clock } = wall(iso);
  return clock === "00:00" ? SHORT.format(date) : `${SHORT.format(date)}, ${clock}`;
}

export function monthName(month) {
  return MONTH.format(wall(`${month}-01`).date);
}

export function count(number, one, many) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many || one + "s"}`;
}

/** A name as people say it: the person herself is "you". */
export function named(name) {
  return name.toLowerCase() === "me" ? "you" : name;
}

export function said(relation) {
  return relation.replaceAll("_", " ");
}

export const memories = (number) => count(number, "memory", "memories");
