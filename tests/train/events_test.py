"""TensorBoard's own reader reads the event files of a run. events_test.py TRAIN_SAMPLES"""

import glob
import subprocess
import sys
import tempfile
import unittest

SKIP = 77
SAMPLES = sys.argv.pop()

try:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
except ImportError as error:
    print(f"skipped: TensorBoard is not installed ({error}); scripts/setup --test installs it")
    sys.exit(SKIP)


class Events(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = subprocess.run([SAMPLES, cls.temporary.name], check=True, capture_output=True,
                                    text=True).stdout.strip()
        cls.events = EventAccumulator(cls.folder)
        cls.events.Reload()

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def files(self):
        return sorted(glob.glob(self.folder + "/events.out.tfevents.*"))

    def scalars(self, tag):
        return [(event.step, event.value) for event in self.events.Scalars(tag)]

    def test_has_a_tag_for_each_figure(self):
        tags = self.events.Tags()
        self.assertEqual(tags["scalars"], ["step/loss", "step/learning_rate", "test/accuracy"])
        self.assertEqual(tags["tensors"], ["config"])

    def test_has_every_step_once_though_the_run_was_resumed(self):
        expected = [(step, 1 / step) for step in range(1, 11)] + [(11, 22.0), (12, 24.0)]
        found = self.scalars("step/loss")
        self.assertEqual([step for step, _ in found], [step for step, _ in expected])
        for (_, value), (_, wanted) in zip(found, expected):
            self.assertAlmostEqual(value, wanted, places=6)
        self.assertEqual(self.scalars("test/accuracy"), [(12, 0.75)])

    def test_has_plausible_times(self):
        times = [event.wall_time for event in self.events.Scalars("step/loss")]
        self.assertEqual(times, sorted(times))
        self.assertLess(times[-1] - times[0], 60)

    def test_shows_scalars_and_texts_in_their_tabs(self):
        plugins = {}
        for file in self.files():
            for event in EventFileLoader(file).Load():
                for value in event.summary.value:
                    plugins[value.tag] = value.metadata.plugin_data.plugin_name
        self.assertEqual(plugins, {"config": "text", "step/loss": "scalars",
                                   "step/learning_rate": "scalars", "test/accuracy": "scalars"})

    def test_holds_the_settings_as_text(self):
        text = self.events.Tensors("config")[0].tensor_proto.string_val[0].decode()
        self.assertIn('    name = "sample"\n    epochs = 2\n', text)

    def test_every_file_begins_with_its_version(self):
        self.assertEqual(len(self.files()), 2)
        for file in self.files():
            self.assertEqual(next(EventFileLoader(file).Load()).file_version, "brain.Event:2")


if __name__ == "__main__":
    unittest.main()
