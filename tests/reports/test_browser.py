"""The page in a browser: no error on its console, contrast as it is painted, room on a narrow screen, on paper."""

from __future__ import annotations

import json
import re
import shutil
import struct
import subprocess
import zlib
from dataclasses import replace
from html import escape, unescape
from pathlib import Path
from typing import Any

import pytest

from sqlmicro.reports.disclosure import MissingShare
from sqlmicro.reports.facts import Facts
from sqlmicro.reports.page import html

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium to draw the page: apt-get install chromium"),
]
DARK = "--blink-settings=preferredColorScheme=0"
PROBE = """<script>
function luminance(colour) {
  const parts = colour.match(/[\\d.]+/g).slice(0, 3).map(v => v / 255);
  const linear = parts.map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
}
function ground(element) {
  for (let e = element; e; e = e.parentElement) {
    const colour = getComputedStyle(e).backgroundColor;
    if (!/, 0\\)$|transparent/.test(colour)) return colour;
  }
  return 'none';
}
function unnamed(selector, name) {
  return [...document.querySelectorAll(selector)].filter(e => !name(e)).length;
}
const found = {width: innerWidth, wide: document.documentElement.scrollWidth, texts: 0, least: 99, where: ''};
for (const e of document.querySelectorAll('body *')) {
  const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
  if (!own || ['title', 'desc', 'script', 'style'].includes(e.tagName.toLowerCase())) continue;
  const style = getComputedStyle(e);
  const painted = e instanceof SVGElement ? style.fill : style.color;
  const pair = [luminance(painted), luminance(ground(e))].sort((a, b) => b - a);
  const ratio = (pair[0] + 0.05) / (pair[1] + 0.05);
  found.texts += 1;
  if (ratio < found.least) { found.least = ratio; found.where = e.tagName + ' ' + painted + ' on ' + ground(e); }
}
const named = id => document.getElementById(id) && document.getElementById(id).textContent.trim();
found.unnamed = unnamed('[aria-labelledby]', e => e.getAttribute('aria-labelledby').split(' ').every(named))
  + unnamed('a', e => e.textContent.trim()) + unnamed('table', e => e.caption && e.caption.textContent.trim())
  + unnamed('nav', e => e.getAttribute('aria-label'));
found.focusable = [...document.querySelectorAll('a[href], [tabindex="0"]')].filter(e => e.tabIndex === 0).length;
const links = [...document.querySelectorAll('a[href], [tabindex="0"]')];
found.outlined = links.filter(e => {
  e.focus({focusVisible: true});
  return parseFloat(getComputedStyle(e).outlineWidth) >= 2;
}).length;
const places = [...document.querySelectorAll('svg')].map(s => {
  const box = s.getBoundingClientRect();
  return [...s.querySelectorAll('text')].filter(t => {
    const own = t.getBoundingClientRect();
    return own.left < box.left - 1 || own.right > box.right + 1 || own.bottom > box.bottom + 1;
  }).length;
});
found.cut = places.reduce((a, b) => a + b, 0);
const inside = e => e.closest('.scroll, svg, .skip, script, style') === null;
const beyond = e => e.getBoundingClientRect().right > innerWidth + 1 || e.getBoundingClientRect().left < -1;
found.outside = [...document.querySelectorAll('body *')].filter(e => inside(e) && beyond(e))
  .map(e => e.outerHTML.slice(0, 80));
const boxes = [...document.querySelectorAll('.scroll')];
found.scrolled = boxes.filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.innerText.slice(0, 60));
found.uncued = boxes.filter(e => e.scrollWidth > e.clientWidth + 1
  && !getComputedStyle(e).backgroundImage.includes('gradient')).length;
found.captions = [...document.querySelectorAll('caption > span')]
  .filter(e => e.getBoundingClientRect().right > e.closest('.scroll').getBoundingClientRect().right + 1).length;
const result = document.createElement('pre');
result.id = 'found';
result.textContent = JSON.stringify(found);
document.body.append(result);
</script>"""


def chromium(page: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Open a page in a browser of its own, without a network, and return what it printed."""
    command = [
        str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
        "--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr", "--v=0",
        f"--user-data-dir={page.parent / 'profile'}", *options, page.as_uri(),
    ]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, timeout=90, check=True)


@pytest.fixture(scope="module")
def probed(page: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the page that measures itself; the policy that forbids scripts is taken out of the copy."""
    policy = re.search(r"<meta http-equiv=\"Content-Security-Policy\"[^>]*>", page)
    assert policy
    path = tmp_path_factory.mktemp("probed") / "probed.html"
    path.write_text(page.replace(policy[0], "").replace("</body>", f"{PROBE}</body>"), encoding="utf-8")
    return path


def measured(probed: Path, *options: str) -> dict[str, Any]:
    printed = chromium(probed, "--dump-dom", *options).stdout
    found = re.search(r'<pre id="found">(.*?)</pre>', printed, re.S)
    assert found, "the page did not measure itself"
    result: dict[str, Any] = json.loads(unescape(found[1]))
    return result


def test_nothing_is_said_on_the_console(page_file: Path) -> None:
    done = chromium(page_file, "--dump-dom")
    assert "CONSOLE" not in done.stderr
    assert "What is not promised" in done.stdout


def test_the_console_is_heard(page_file: Path, tmp_path: Path) -> None:
    """An image from elsewhere is refused by the policy of the page, and that is said on the console."""
    broken = tmp_path / "broken.html"
    text = page_file.read_text(encoding="utf-8").replace("</main>", '<img src="https://example.org/x.png"></main>')
    broken.write_text(text, encoding="utf-8")
    assert "CONSOLE" in chromium(broken, "--dump-dom").stderr


@pytest.mark.parametrize("mode", [(), (DARK,)], ids=["light", "dark"])
def test_text_can_be_read_and_everything_has_a_name(probed: Path, mode: tuple[str, ...]) -> None:
    found = measured(probed, "--window-size=1200,1000", *mode)
    assert found["texts"] > 200
    assert found["least"] >= 4.5, found["where"]
    assert found["unnamed"] == 0
    assert found["outlined"] == found["focusable"] > 10
    assert found["cut"] == 0


LONG = "a_release_with_a_very_long_name_" * 4
SCRIPTS = "чистий дохід 東京都千代田区 صافي الدخل " * 3


@pytest.fixture(scope="module", params=["en", "de"])
def worst(request: pytest.FixtureRequest, found: Facts, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a page that measures itself, in a language, with long names and names of other scripts in every place."""
    (first, *others) = found.columns
    facts = replace(
        found, lang=request.param, table=LONG, source=LONG, kept=[SCRIPTS, *found.kept], attacked=[SCRIPTS, LONG],
        quasi=[SCRIPTS, *found.quasi], columns=[replace(first, name=LONG), *others],
        missing=[MissingShare(SCRIPTS, 0.5, None)],
        verdict=replace(found.verdict, headline=LONG, columns=[LONG, SCRIPTS]),
    )  # fmt: skip
    page = re.sub(r"<meta http-equiv=[^>]*>", "", html(facts))
    path = tmp_path_factory.mktemp("worst") / "worst.html"
    path.write_text(page.replace("</body>", f"{PROBE}</body>"), encoding="utf-8")
    return path


def framed(page: Path, text: str, width: int) -> dict[str, Any]:
    """Return what a page measures in a frame, because no window is narrower than 500 pixels."""
    path = page.with_name(f"framed-{width}.html")
    copied = "document.body.append(document.importNode(this.contentDocument.getElementById('found'), true))"
    inner = escape(text, quote=True)
    path.write_text(f'<iframe width="{width}" height="900" onload="{copied}" srcdoc="{inner}"></iframe>', "utf-8")
    return measured(path, "--window-size=1600,1000")


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_nothing_is_cut_without_a_cue(worst: Path, width: int) -> None:
    """Nothing but a table goes beyond the screen; a table that does has a shadow, and its caption stays in sight."""
    found = framed(worst, worst.read_text(encoding="utf-8"), width)
    assert found["width"] == width
    assert found["wide"] <= width
    assert found["outside"] == []
    assert found["scrolled"] or width > 360
    assert (found["uncued"], found["captions"], found["cut"]) == (0, 0, 0)


def test_no_table_is_cut_on_paper(worst: Path) -> None:
    """A4 between its margins has 178 mm, 672 pixels: with the rules of print no table is wider."""
    text = worst.read_text(encoding="utf-8").replace("@media print", "@media all")
    found = framed(worst, text, 672)
    assert (found["scrolled"], found["outside"], found["wide"] <= 672) == ([], [], True)


def brightness(path: Path) -> tuple[float, int]:
    """Return the mean brightness of a screenshot, from 0 to 255, and how many different ones it has."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, _, depth, kind = struct.unpack(">IIBB", data[16:26])
    assert (depth, kind) in ((8, 2), (8, 6))
    channels = 3 if kind == 2 else 4
    packed, place = b"", 8
    while place < len(data):
        (length,) = struct.unpack(">I", data[place : place + 4])
        if data[place + 4 : place + 8] == b"IDAT":
            packed += data[place + 8 : place + 8 + length]
        place += 12 + length
    rows, stride = zlib.decompress(packed), width * channels
    line, total, seen, count = bytearray(stride), 0, set(), 0
    for start in range(0, len(rows), stride + 1):
        line = _unfiltered(rows[start], rows[start + 1 : start + 1 + stride], line, channels)
        sample = line[1::channels]  # green is most of what the eye sees
        total, count = total + sum(sample), count + len(sample)
        seen.update(sample)
    return total / count, len(seen)


def _unfiltered(kind: int, row: bytes, above: bytearray, channels: int) -> bytearray:
    line = bytearray(row)
    for i, value in enumerate(row):
        left = line[i - channels] if i >= channels else 0
        corner = above[i - channels] if i >= channels else 0
        up = above[i]
        if kind == 4:
            guess = left + up - corner
            near = [(abs(guess - left), left), (abs(guess - up), up), (abs(guess - corner), corner)]
            line[i] = (value + min(near, key=lambda pair: pair[0])[1]) & 255
        else:
            line[i] = (value + (0, left, up, (left + up) // 2)[kind]) & 255
    return line


def test_it_is_drawn_light_and_dark(page_file: Path, tmp_path: Path) -> None:
    seen = {}
    for name, options in (("light", ()), ("dark", (DARK,))):
        path = tmp_path / f"{name}.png"
        chromium(page_file, f"--screenshot={path}", "--window-size=500,400", *options)
        seen[name] = brightness(path)
    assert seen["light"][0] > 200 > 80 > seen["dark"][0]
    assert all(shades > 20 for _, shades in seen.values())


def test_it_is_printed(page_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "report.pdf"
    chromium(page_file, f"--print-to-pdf={path}", "--no-pdf-header-footer", DARK)
    content = path.read_bytes()
    assert content.startswith(b"%PDF-")
    assert 3 <= len(re.findall(rb"/Type\s*/Page\b", content)) <= 15


def test_pages_are_numbered(page_file: Path) -> None:
    text = page_file.read_text(encoding="utf-8")
    assert 'content: counter(page) " / " counter(pages)' in text
    assert 'content: "Release\\20 release"' in text
