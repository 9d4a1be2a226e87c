"""Holds the tree to the rules of house.py, and each rule to a tree that breaks it."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import house

ROOT = Path(__file__).resolve().parents[2]


class TheTree(unittest.TestCase):
    def expect_none(self, breaches):
        self.assertEqual([], list(breaches))

    def test_includes_go_down_the_rooms(self):
        self.expect_none(house.layer_breaches(ROOT))

    def test_public_headers_include_the_standard_library_and_each_other(self):
        self.expect_none(house.public_header_breaches(ROOT))

    def test_links_go_down_the_rooms(self):
        self.expect_none(house.link_breaches(ROOT))

    def test_no_file_includes_itself_in_the_end(self):
        self.expect_none(house.include_cycles(ROOT))

    def test_every_source_is_built(self):
        self.expect_none(house.unbuilt_sources(ROOT))

    def test_files_are_short(self):
        self.expect_none(house.long_files(ROOT))

    def test_nothing_names_a_machine_or_a_registry(self):
        self.expect_none(house.machine_paths(ROOT))

    @unittest.skipUnless(shutil.which("clang-format-14"), "clang-format-14 is not installed")
    def test_the_code_is_formatted(self):
        self.expect_none(house.unformatted(ROOT, "clang-format-14"))


class TheTable(unittest.TestCase):
    def test_goes_one_way(self):
        order = list(house.ALLOWED)
        for room, allowed in house.ALLOWED.items():
            for other in allowed:
                self.assertLess(order.index(other), order.index(room), f"{room} -> {other}")

    def test_is_closed_under_what_lower_rooms_may_include(self):
        for room, allowed in house.ALLOWED.items():
            for other in allowed:
                self.assertLessEqual(house.ALLOWED[other], allowed, f"{room} -> {other}")


class ARule(unittest.TestCase):
    """Each test makes a small tree with one breach in it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        subprocess.run(["git", "init", "-q"], cwd=self.root, check=True)

    def write(self, name, text):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def test_finds_an_include_that_goes_up(self):
        self.write("include/thalweg/nn/module.h", "")
        self.write("src/base/error.cpp", "#include <thalweg/nn/module.h>\n")
        self.assertEqual(["src/base/error.cpp: base may not include include/thalweg/nn/module.h"],
                         list(house.layer_breaches(self.root)))

    def test_finds_an_include_between_neighbours(self):
        self.write("src/comm/ring.h", "")
        self.write("src/data/loader.cpp", '#include "comm/ring.h"\n')
        self.assertEqual(["src/data/loader.cpp: data may not include src/comm/ring.h"],
                         list(house.layer_breaches(self.root)))

    def test_finds_a_public_header_that_includes_an_internal_one(self):
        self.write("src/base/fail.h", "")
        self.write("include/thalweg/base/error.h", '#include "base/fail.h"\n')
        self.assertEqual(1, len(list(house.layer_breaches(self.root))))

    def test_finds_a_room_that_is_not_in_the_table(self):
        self.write("src/util/misc.cpp", "")
        self.assertEqual(["src/util/misc.cpp: is in no room of the table"],
                         list(house.layer_breaches(self.root)))

    def test_finds_a_library_in_a_public_header(self):
        self.write("include/thalweg/base/log.h", "#include <fmt/format.h>\n#include <string>\n")
        self.assertEqual(["include/thalweg/base/log.h: a public header may not include fmt/format.h"],
                         list(house.public_header_breaches(self.root)))

    def test_finds_a_link_that_goes_up(self):
        self.write("src/tensor/CMakeLists.txt", "thalweg_room(tensor\n  SOURCES a.cpp\n  DEPS base nn)\n")
        self.assertEqual(["src/tensor/CMakeLists.txt: tensor may not link nn"],
                         list(house.link_breaches(self.root)))

    def test_finds_a_cycle_of_headers(self):
        self.write("src/base/a.h", '#include "base/b.h"\n')
        self.write("src/base/b.h", '#include "base/a.h"\n')
        self.assertEqual(["src/base/a.h -> src/base/b.h -> src/base/a.h"],
                         list(house.include_cycles(self.root)))

    def test_finds_a_source_that_nothing_builds(self):
        self.write("src/base/CMakeLists.txt", "thalweg_room(base SOURCES error.cpp)\n")
        self.write("src/base/error.cpp", "")
        self.write("src/base/forgotten.cpp", "")
        self.assertEqual(["src/base/forgotten.cpp: is not in src/base/CMakeLists.txt"],
                         list(house.unbuilt_sources(self.root)))

    def test_finds_a_long_file(self):
        self.write("src/base/long.cpp", "\n" * 601)
        self.write("README.md", "\n" * 151)
        self.assertEqual(2, len(list(house.long_files(self.root))))

    def test_finds_a_path_of_one_machine(self):
        self.write("scripts/run", "cd /" + "home/somebody/thalweg\n")
        self.assertEqual(1, len(list(house.machine_paths(self.root))))


if __name__ == "__main__":
    unittest.main()
