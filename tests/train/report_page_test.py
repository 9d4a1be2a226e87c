"""A browser opens a report and shows its figures. report_page_test.py TRAIN_SAMPLES"""

import html.parser
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SKIP = 77
SAMPLES = sys.argv.pop()
BROWSER = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])),
               None)

if BROWSER is None:
    print("skipped: no Chromium is installed; scripts/setup --test installs it")
    sys.exit(SKIP)

# What a reader does: move to the second epoch by the keyboard, click for a logarithmic axis.
ACTIONS = """<script>
const chart = document.querySelector("#chart-loss svg");
for (const key of ["ArrowRight", "ArrowRight"])
  chart.dispatchEvent(new KeyboardEvent("keydown", {key}));
document.querySelector("#chart-loss-steps button").click();
</script>"""


class Page(html.parser.HTMLParser):
    """The elements of a page: tag, attributes and text by id, and a count of each tag."""

    VOID = {"meta", "link", "img", "br", "input", "hr"}

    def __init__(self, text):
        super().__init__()
        self.stack, self.by_id, self.counts = [], {}, {}
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        element = {"tag": tag, "attributes": dict(attrs), "text": "", "counts": {}}
        for open_element in self.stack:
            open_element["counts"][tag] = open_element["counts"].get(tag, 0) + 1
        if "id" in element["attributes"]:
            self.by_id[element["attributes"]["id"]] = element
        if tag not in self.VOID:
            self.stack.append(element)

    def handle_endtag(self, tag):
        self.handle_data(" ")
        while self.stack and self.stack.pop()["tag"] != tag:
            pass

    def handle_data(self, data):
        for element in self.stack:
            element["text"] += data

    def text(self, name):
        return " ".join(self.by_id[name]["text"].split())

    def count(self, name, tag):
        return self.by_id[name]["counts"].get(tag, 0)


def browse(path, folder):
    """The page after its scripts ran, and what the browser said about them."""
    result = subprocess.run(
        [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
         "--enable-logging=stderr", "--virtual-time-budget=5000",
         f"--user-data-dir={folder}/browser", "--dump-dom", path.as_uri()],
        capture_output=True, text=True, timeout=120)
    return Page(result.stdout), [line for line in result.stderr.splitlines() if "CONSOLE" in line]


class Report(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.temporary.name)
        subprocess.run([SAMPLES, folder], check=True, capture_output=True)
        text = (folder / "report.html").read_text(encoding="utf-8")
        used = text.replace("</body>", ACTIONS + "</body>")
        (folder / "used.html").write_text(used, encoding="utf-8")
        cls.page, cls.messages = browse(folder / "used.html", folder)
        cls.run_data = json.loads(cls.page.text("thalweg-run"))

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def test_runs_without_a_message(self):
        self.assertEqual(self.messages, [])

    def test_shows_the_final_figures(self):
        self.assertEqual(self.page.text("title"), "fashion-mnist-mlp")
        self.assertEqual(self.page.text("final-accuracy"), "0.8812")
        self.assertEqual(self.page.text("final-loss"), "0.3254")
        self.assertEqual(self.page.text("seed"), "18446744073709551615")

    def test_shown_figures_are_those_of_the_json(self):
        for name, value in self.run_data["final"].items():
            shown = self.page.by_id["final-" + name]["attributes"]["data-value"]
            self.assertEqual(float(shown), value)
        for epoch in self.run_data["epochs"]:
            row = self.page.text(f"epoch-{epoch['epoch']}")
            for part in ("train", "test"):
                for value in epoch[part].values():
                    self.assertIn(f"{value:.4f}", row)

    def test_draws_every_curve(self):
        for chart, lines in {"loss-steps": 3, "loss": 2, "accuracy": 2, "learning-rate": 1}.items():
            self.assertEqual(self.page.count("chart-" + chart, "path"), lines, chart)
        # A dot an epoch and series, and two that the keyboard put on the curves.
        self.assertEqual(self.page.count("chart-loss", "circle"), 22)

    def test_reads_out_what_the_keyboard_chooses(self):
        second = self.run_data["epochs"][1]
        text = self.page.text("chart-loss")
        self.assertIn("epoch 2", text)
        self.assertIn(f"train {second['train']['loss']:.4f}", text)
        self.assertIn(f"test {second['test']['loss']:.4f}", text)

    def test_changes_to_a_logarithmic_axis(self):
        text = self.page.text("chart-loss-steps")
        self.assertRegex(text, r"log scale 0\.2 0\.5 1 2 ")

    def test_every_chart_says_what_it_shows(self):
        svg = self.page.by_id["net-diagram"]["attributes"]
        self.assertEqual(svg["role"], "img")
        self.assertIn("7 layers", svg["aria-label"])

    def test_shows_confusion_images_net_settings_and_time(self):
        self.assertEqual(self.page.count("confusion-matrix", "td"), 1 + 10 * 11 + 10 + 1)
        self.assertEqual(self.page.count("worst", "img"), 12)
        self.assertEqual(self.page.count("net-diagram", "g"), 7)
        self.assertIn("optimizer.learning_rate", self.page.text("settings"))
        self.assertIn("Backward", self.page.text("timings"))


if __name__ == "__main__":
    unittest.main()
