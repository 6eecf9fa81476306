"""Form pages of ours for the extension, and the memories that fill them."""

from __future__ import annotations

from pathlib import Path

from store.graph import MemoryGraph
from store.journal import Insert
from store.types import Draft
from tests.conftest import NOW

TOLD = {
    "My name is Iris Berg.": "attribute.name",
    "I live at 12 Mill Road, Leeds LS1 4AB, United Kingdom.": "attribute.address",
    "My phone number is +44 7700 900123.": "attribute.contact",
    "My email address is iris@berg.example.": "attribute.contact",
    "My passport number is X1234567.": "attribute.identity",
    "I was born on 1990-03-14.": "attribute.birthday",
    "I work at Acme as an engineer.": "attribute.occupation",
    "I am allergic to penicillin.": "attribute.health",
    "My card number is 4111 1111 1111 1111.": "attribute.belongings",
    "My password is hunter22.": "attribute.belongings",
    "I am female.": "attribute.gender",
}

HONEYPOT = """<input name="email2" style="position:absolute;left:-9999px" autocomplete="email">
<div style="opacity:0"><input name="phone2" autocomplete="tel"></div>
<div style="display:none"><label>Last name <input name="hidden-last"></label></div>"""


def page(title: str, body: str, script: str = "") -> str:
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        "<style>body{font:16px sans-serif;max-width:640px;margin:24px auto}label{display:block;"
        "margin:10px 0}input,select,textarea{display:block;font:inherit;padding:4px}</style>"
        f"<h1>{title}</h1>{body}<script>{script}</script>"
    )


ADDRESS = page(
    "Delivery address",
    f"""<form action="/done" method="post">
<label for="a">First name</label><input id="a" name="first">
<label for="b">Last name</label><input id="b" name="last">
<label for="c">Street</label><input id="c" name="street" autocomplete="address-line1">
<label for="d">Town or city</label><input id="d" name="city" autocomplete="address-level2">
<label for="e">Postcode</label><input id="e" name="postcode" autocomplete="postal-code">
<label for="f">Country</label><select id="f" name="country"><option value="">Choose</option>
<option value="DE">Germany</option><option value="GB">United Kingdom</option></select>
<label for="g">Note</label><textarea id="g" name="note">Ring twice.</textarea>
{HONEYPOT}<button>Continue</button></form>""",
)
VISA = page(
    "Visa application",
    """<form action="https://embassy.example/apply" method="post">
<label>Surname <input name="surname"></label>
<label>Given names <input name="given"></label>
<label>Date of birth <input type="date" name="born"></label>
<label>Passport number <input name="passport"></label>
<fieldset><legend>Gender</legend>
<label><input type="radio" name="sex" value="f">Female</label>
<label><input type="radio" name="sex" value="m">Male</label></fieldset>
<iframe src="/frame" width="100" height="40"></iframe>
<button>Apply</button></form>""",
)
JOB = page(
    "Job application",
    '<div id="root"></div>',
    # The way of React: the state is the truth, a tracker on the element tells real changes.
    """
const state = {name: '', mail: '', phone: '', firm: ''};
const labels = {name: 'Full name', mail: 'Email', phone: 'Phone', firm: 'Current employer'};
const root = document.getElementById('root');
const own = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');
const tracked = new Map();
for (const key in state) {
  const label = root.appendChild(document.createElement('label'));
  const input = document.createElement('input');
  label.append(labels[key], input);
  tracked.set(input, '');
  Object.defineProperty(input, 'value', {configurable: true, get() { return own.get.call(this); },
    set(value) { tracked.set(this, String(value)); own.set.call(this, value); }});
  input.dataset.key = key;
}
root.addEventListener('input', (event) => {
  const input = event.target, value = own.get.call(input);
  if (tracked.get(input) === value) return;
  tracked.set(input, value);
  state[input.dataset.key] = value;
});
const left = new Set();
root.addEventListener('focusout', (event) => left.add(event.target.dataset.key));
setInterval(() => { for (const input of tracked.keys()) {
  if (own.get.call(input) !== state[input.dataset.key]) input.value = state[input.dataset.key];
} }, 10);
window.state = state; window.left = left;
""",
)
CHECKOUT = page(
    "Checkout",
    """<form id="checkout"><section id="one"><label>Email <input name="email"></label>
<button type="button" id="next">Next</button></section>
<section id="two" hidden><label>Name on card <input name="holder" autocomplete="cc-name"></label>
<label>Card number <input name="number" autocomplete="cc-number"></label>
<label>Security code <input name="csc" autocomplete="cc-csc"></label>
<label>Password for next time <input name="pw" type="password" autocomplete="new-password"></label>
<label>One-time code <input name="otp" autocomplete="one-time-code"></label></section></form>""",
    """const [one, two] = document.querySelectorAll('section');
document.getElementById('next').onclick = () => { one.hidden = true; two.hidden = false; };""",
)
INTAKE = page(
    "Before your appointment",
    "<intake-form></intake-form><closed-part></closed-part>",
    """
customElements.define('named-field', class extends HTMLElement {
  connectedCallback() {
    this.attachShadow({mode: 'open'}).innerHTML =
      `<label for="in"><slot></slot></label><input id="in" name="${this.getAttribute('name')}">`;
    this.shadowRoot.querySelector('input').addEventListener('input',
      (event) => { (window.heard ??= {})[this.getAttribute('name')] = event.target.value; });
  }});
customElements.define('intake-form', class extends HTMLElement {
  connectedCallback() {
    this.attachShadow({mode: 'open'}).innerHTML =
      `<form><named-field name="who">Full name</named-field>
       <named-field name="dob">Date of birth</named-field>
       <named-field name="ill">Allergies</named-field></form>`;
  }});
customElements.define('closed-part', class extends HTMLElement {
  connectedCallback() {
    this.inner = this.attachShadow({mode: 'closed'});
    this.inner.innerHTML = '<label>Mobile phone <input name="tel"></label>';
  }});
""",
)
STORY = page("Story", "<p id=story>The Crowne Plaza in Leeds has a pool on the roof.</p>")
PAGES = {
    "/address": ADDRESS,
    "/visa": VISA,
    "/job": JOB,
    "/checkout": CHECKOUT,
    "/intake": INTAKE,
    "/story": STORY,
    "/done": page("Thank you", "<p>Sent.</p>"),
    "/frame": page("Frame", "<label>Email <input name=email></label>"),
}


def fill_home(home: Path) -> None:
    """Tell a home what the forms ask for."""
    with MemoryGraph.open(home) as graph:
        edits = [Insert(Draft(text, subclass, NOW)) for text, subclass in TOLD.items()]
        graph.apply(edits, at=NOW)
