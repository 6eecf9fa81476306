"""The bookmarklet of docs/autofill.md, run by a real browser on a real page."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
DOCS = Path(__file__).parents[2] / "docs" / "autofill.md"
PAGE = """<!doctype html><body><form><input name=first><input id=city>
<input name=x><input name=x><input name=kept value=mine><input type=password name=pw>
<select name=land><option value=a>A<option value=b>B</select>
<input type=radio name=g value=f><input type=radio name=g value=m><input type=checkbox name=veg>
<textarea name=note></textarea></form>
<script>
let clip = CLIPBOARD, events = 0;
Object.defineProperty(navigator, 'clipboard', {value: {
  readText: async () => clip, writeText: async text => { clip = text; }}});
document.addEventListener('input', () => events++);
BOOKMARKLET.then(() => {
  const at = selector => document.querySelector(selector);
  const xs = [...document.querySelectorAll('[name=x]')].map(e => e.value);
  document.body.append(Object.assign(document.createElement('pre'), {id: 'out', textContent:
    JSON.stringify({first: at('[name=first]').value, city: at('#city').value, xs,
      kept: at('[name=kept]').value, pw: at('[name=pw]').value, land: at('select').value,
      g: at('[name=g]:checked')?.value ?? null, veg: at('[name=veg]').checked,
      note: at('textarea').value, events, clip})}));
});
</script>"""


def bookmarklet() -> str:
    (line,) = re.findall(r"^javascript:(.+)$", DOCS.read_text("utf-8"), re.MULTILINE)
    return str(line)


def clicked(folder: Path, clipboard: str) -> dict[str, object]:
    """What the page holds after the bookmark was clicked with this in the clipboard."""
    page = folder / "page.html"
    script = PAGE.replace("CLIPBOARD", json.dumps(clipboard)).replace("BOOKMARKLET", bookmarklet())
    page.write_text(script, "utf-8")
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--dump-dom")
    profile = f"--user-data-dir={folder / 'profile'}"
    words = [str(CHROMIUM), *options, "--virtual-time-budget=5000", profile, page.as_uri()]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=True)
    found = re.search(r'<pre id="out">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found is not None, done.stdout[-2000:] + done.stderr[-2000:]
    result: dict[str, object] = json.loads(html.unescape(found[1]))
    return result


pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")


def test_the_first_click_copies_the_page_with_its_site(tmp_path: Path):
    copied = str(clicked(tmp_path, "anything")["clip"])
    assert copied.startswith("<!-- saved from url=(0000)")
    assert "<input name=" in copied and "</html>" in copied


def test_the_second_click_puts_the_values_into_their_fields(tmp_path: Path):
    values = {"first": "Iris", "city": "Oslo", "kept": "other", "pw": "no", "land": "b", "g": "m",
              "veg": True, "note": "1 & <2>", "absent": "z"}  # fmt: skip
    fields = [{"name": name, "value": value} for name, value in values.items()]
    fields += [{"name": "x", "value": None}, {"name": "x", "value": "second"}]
    after = clicked(tmp_path, json.dumps({"fields": fields, "notes": []}))
    expected = {"first": "Iris", "city": "Oslo", "xs": ["", "second"], "kept": "mine", "pw": "",
                "land": "b", "g": "m", "veg": True, "note": "1 & <2>"}  # fmt: skip
    assert {key: after[key] for key in expected} == expected
    assert after["events"] == 8


def test_it_contacts_nothing():
    assert not re.search(r"fetch|XMLHttp|sendBeacon|WebSocket|\.src|import|https?:", bookmarklet())
