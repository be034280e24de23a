"""The HTML page: complete in itself, well formed, with every text escaped, and in a headless browser, where one is
installed, no wider than a desktop's window or a phone."""

import html
import html.parser
import os
import re
import shutil
import subprocess
import unittest

from driver import DATA, Case, run

ADD = DATA / "tiny_add.pte"
QUICK = ("--min-runs", "30", "--min-time", "0", "--warmup", "1")
REFERENCE = ("--inputs", DATA / "tiny_add.inputs.npz", "--reference", DATA / "tiny_add.expected.npz")
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "firefox"))), None)
VOID = {"meta", "wbr", "br"}

PROBE = """<!DOCTYPE html><meta charset="utf-8"><title></title><body></body><script>
const page = {page};
const found = [];
for (const width of [1280, 390, 320]) {{
  const frame = document.createElement('iframe');
  frame.style.cssText = `width:${{width}}px;height:800px;border:0`;
  frame.srcdoc = page;
  document.body.append(frame);
  frame.onload = () => {{
    const inside = frame.contentDocument;
    inside.querySelectorAll('details').forEach(item => item.open = true);
    const root = inside.documentElement;
    found.push(`${{width}}:${{root.scrollWidth}}/${{root.clientWidth}}:${{inside.querySelectorAll('section').length}}`);
    if (found.length === 3) document.title = found.sort().join(' ');
  }};
}}
</script>"""


class Checker(html.parser.HTMLParser):
    """Collects what a page must not have, and its text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.problems, self.words, self.headings = [], [], [], []
        self.feed(text)
        self.close()
        self.problems += [f"<{tag}> is not closed" for tag in self.open]

    def handle_starttag(self, tag, attrs):
        if tag in ("script", "link", "img", "iframe", "object", "base", "form"):
            self.problems.append(f"<{tag}>")
        for name, value in attrs:
            if name in ("src", "href", "srcset", "action", "data") or name.startswith("on") or "url(" in (value or ""):
                self.problems.append(f"{name}={value}")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> closes something else")

    def handle_data(self, data):
        self.words.append(data)
        if self.open and self.open[-1] == "h2":
            self.headings.append(data)
        if self.open and self.open[-1] == "style" and re.search(r"url\(|@import|//", data):
            self.problems.append("the style sheet names a resource")


class Page(Case):
    def page(self, *arguments, code=0):
        path = self.folder / "page.html"
        outcome = run(*arguments, "--html", path)
        self.assertEqual(outcome.code, code, outcome.err)
        text = path.read_text(encoding="utf-8")
        self.assertNotRegex(text, r"https?:|www\.")
        return text

    def pages(self):
        yield self.page("run", ADD, *REFERENCE, "--iterations", "40", "--load-option",
                        "XnnpackBackend.workspace_sharing_mode=1", "--global-option",
                        "XnnpackBackend.weight_cache_enabled=true", "--require-evidence", "accepted")
        yield self.page("run", DATA / "multi.pte", "--method", "forward,encode")
        yield self.page("run", ADD, "--reference", DATA / "tiny_add.expected.npz", code=1)
        yield self.page("run", DATA / "none.pte", code=3)
        yield self.page("bench", ADD, *QUICK, "--profile", "--fail-if", "p50>100s")
        yield self.page("bench", ADD, *QUICK, "--axis", "threads=1,2", "--axis",
                        "XnnpackBackend.workspace_sharing_mode=disabled,per_model,global", "--processes", "3")
        yield self.page("run", DATA / "live" / "net.pte", "--diverge", "--diverge-inputs", self.folder / "d.npz", "--reference",
                        f"pte:{DATA / 'live' / 'net_wrong.pte'}", code=1)
        yield self.page("run", ADD, "--load-option", "XnnpackBackend.workspace_sharing_mod=1", "--theads", "1", code=2)
        yield self.page("compare", DATA / "tiny_add.expected.npz", DATA / "multi.expected.npz", code=1)

    def test_every_page_is_complete_in_itself_and_well_formed(self):
        for text in self.pages():
            self.assertEqual(Checker(text).problems, [])

    def test_sections_appear_when_there_is_something_to_show(self):
        pages = [Checker(text).headings for text in self.pages()]
        self.assertEqual(pages[0], ["Options", "Comparison", "Latency", "Memory", "Outputs", "Program", "Manifest"])
        self.assertEqual(pages[3], ["Memory", "Manifest"])
        self.assertEqual(pages[4], ["Gates", "Latency", "Profile", "Memory", "Outputs", "Program", "Manifest"])
        self.assertEqual(pages[5], ["Options", "Sweep", "Latency", "Memory", "Manifest"])
        self.assertEqual(pages[6][:2], ["Comparison", "Node by node"])
        self.assertEqual(pages[7], ["Manifest"])
        self.assertEqual(pages[8], ["Comparison", "Outputs", "Manifest"])

    def test_every_text_is_escaped(self):
        name = self.folder / "a<b>&'\"<script>alert(1)</script>.pte".replace("/", "_")
        shutil.copy(ADD, name)
        text = self.page("run", name, "--reference", DATA / "tiny_add.expected.npz", "--atol", "9")
        checked = Checker(text)
        self.assertEqual(checked.problems, [])
        self.assertIn(name.name, "".join(checked.words))

    def test_the_command_that_reproduces_it_is_in_it(self):
        text = html.unescape(self.page("run", ADD, "--input", "0=uniform(0,2)", "--input", "1=ones"))
        self.assertIn("--input '0=uniform(0,2)'", text)

    @unittest.skipIf(BROWSER is None or "firefox" in BROWSER, "no Chromium is installed to open it in")
    def test_a_browser_shows_it_without_complaint_or_sideways_scrolling(self):
        for number, text in enumerate(self.pages()):
            page = html_string(text)
            probe = self.folder / "probe.html"
            probe.write_text(PROBE.format(page=page), encoding="utf-8")
            done = subprocess.run(
                [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                 f"--user-data-dir={self.folder / 'profile'}", "--enable-logging=stderr", "--virtual-time-budget=5000",
                 "--dump-dom", probe.as_uri()],
                capture_output=True, text=True, timeout=120, check=False, env={**os.environ, "HOME": str(self.folder)})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("CONSOLE", done.stderr)
            title = re.search(r"<title>([^<]+)</title>", done.stdout)
            self.assertIsNotNone(title, done.stdout[:300])
            sizes = re.findall(r"(\d+):(\d+)/(\d+):(\d+)", title.group(1))
            self.assertEqual(len(sizes), 3)
            for width, whole, shown, sections in sizes:
                with self.subTest(page=number, width=width):
                    self.assertEqual((shown, whole), (width, width))
                    self.assertEqual(int(sections), len(Checker(text).headings))


def html_string(text):
    """A JavaScript string literal that does not end the script that it is in."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("<", "\\u003c")
    return f'"{escaped}"'


if __name__ == "__main__":
    unittest.main()
