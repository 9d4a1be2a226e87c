"""inspect and convert on data files. data_files_test.py PROGRAM"""

import gzip
import json
import os
import sys
import unittest

from program import ProgramTest

ProgramTest.program = sys.argv.pop()

CTF = """0 |F 1 2 3 |L 0:1
0 |F 4 5 6 |L 2:0.5 |# a remark
1 |F 7 8 9 |L 1:1
"""
STREAMS = ["--stream", "F:dense:3", "--stream", "L:sparse:4"]


class Inspect(ProgramTest):
    def inspect(self, *arguments):
        return json.loads(self.succeed("inspect", *arguments, "--json"))

    def test_ctf(self):
        self.write("a.ctf", CTF)
        found = self.inspect("a.ctf", *STREAMS)
        expected = {"sequences": 2, "samples": 3, "max_length": 2, "errors": 0, "warnings": 0,
                    "streams": {"F": {"samples": 3, "values": 9, "sum": 45},
                                "L": {"samples": 3, "values": 3, "sum": 2.5}}, "messages": []}
        self.assertEqual({**expected, "file": "a.ctf", "format": "ctf"}, found)
        with gzip.open(self.path("a.ctf.gz"), "wt") as file:
            file.write(CTF)
        self.assertEqual({**expected, "file": "a.ctf.gz", "format": "ctf"}, self.inspect("a.ctf.gz", *STREAMS))
        os.rename(self.path("a.ctf"), self.path("a.txt"))
        self.assertEqual(self.inspect("a.txt", "--format", "ctf", *STREAMS)["streams"], expected["streams"])
        self.assertIn("F            3 samples, 9 values, sum 45", self.succeed("inspect", "a.txt", "--format", "ctf",
                                                                              *STREAMS))

    def test_bad_records_are_told_and_end_with_3_if_they_are_too_many(self):
        self.write("a.ctf", CTF + "2 |F 1 2 |L 0:1\n3 |F 1 2 3 |L 9:1\n4 |F 0 0 0 |L\n")
        first = "a.ctf:4:10: stream 'F': expected 3 values, found 2"
        self.expect_error(3, first, "inspect", "a.ctf", *STREAMS)
        self.expect_error(3, "2 bad records, and --max-errors allows 1", "inspect", "a.ctf", *STREAMS, "--max-errors",
                          "1")
        found = self.inspect("a.ctf", *STREAMS, "--max-errors", "2")
        self.assertEqual((found["sequences"], found["errors"]), (3, 2))
        self.assertEqual(found["messages"][0], first)

    def test_compat_is_cntks_reading(self):
        self.write("a.ctf", "|F 1 2\n|F 4 5 6")
        found = self.inspect("a.ctf", "--stream", "F:dense:3", "--compat")
        self.assertEqual((found["sequences"], found["errors"], found["warnings"]), (2, 0, 4))
        self.assertIn("at offset 6 in the input file (a.ctf) has a sparse suffix", found["messages"][0])

    def test_usage(self):
        self.write("a.ctf", CTF)
        self.expect_error(2, "it may have F:dense:3 L:sparse:3", "inspect", "a.ctf")
        self.expect_error(2, "'F:dense'", "inspect", "a.ctf", "--stream", "F:dense")
        self.expect_error(2, "did you mean 'ctf'?", "inspect", "a.ctf", "--format", "cft")
        self.expect_error(2, "ctf has no option 'x'", "inspect", "a.ctf", *STREAMS, "--option", "x=1")
        self.expect_error(3, "b.ctf", "inspect", "b.ctf", *STREAMS)


class Convert(ProgramTest):
    def sums(self, *arguments):
        found = json.loads(self.succeed("inspect", *arguments, "--json"))
        return {key: found[key] for key in ("sequences", "samples", "max_length", "streams")}

    def test_ctf_to_cbf_and_back(self):
        self.write("a.ctf", CTF)
        told = self.succeed("convert", "a.ctf", "a.cbf", *STREAMS)
        self.assertEqual(told, "a.cbf: 2 sequences, 3 samples\n")
        self.assertEqual(self.sums("a.ctf", *STREAMS), self.sums("a.cbf"))
        self.succeed("convert", "a.cbf", "b.ctf")
        self.assertEqual(self.read("b.ctf").decode(), CTF.replace(" |# a remark", ""))
        self.expect_error(2, "without ids every sequence is a row", "convert", "a.cbf", "c.ctf", "--to-option",
                          "ids=false")
        self.assertFalse(os.path.exists(self.path("c.ctf")))

    def test_an_index(self):
        self.write("a.ctf", CTF)
        self.assertEqual(self.succeed("convert", "a.ctf", "--index", *STREAMS), "a.ctf: 1 chunks\n")
        self.assertEqual(1, sum(name.endswith(".index") for name in os.listdir(self.folder)))

    def test_tokens_become_ctf_as_txt2ctf_makes_it(self):
        self.write("letters", "</s>\n<s>\nA\nB\n|\n")
        self.write("sounds", "</s>\n<s>\nAH\nB\n")
        self.write("a.tsv", "<s> A B </s>\t<s> AH B\n<s> |\t</s>\r\n")
        told = self.succeed("convert", "a.tsv", "a.ctf", "--dictionary", "letters", "--dictionary", "P=sounds")
        self.assertEqual(told, "a.ctf: 2 sequences, 6 rows\n  --stream S0:sparse:5\n  --stream P:sparse:4\n")
        self.assertEqual(self.read("a.ctf").decode(), "0\t|S0 1:1\t|P 1:1\n0\t|S0 2:1\t|P 2:1\n0\t|S0 3:1\t|P 3:1\n"
                                                      "0\t|S0 0:1\n1\t|S0 1:1\t|P 0:1\n1\t|S0 4:1\n")
        streams = ["--stream", "S0:sparse:5", "--stream", "P:sparse:4"]
        plain = self.sums("a.ctf", *streams)
        self.succeed("convert", "a.tsv", "b.ctf", "--dictionary", "letters", "--dictionary", "P=sounds", "--annotate")
        self.assertIn(b"|S0 2:1 |# A\t|P 2:1 |# AH\n", self.read("b.ctf"))
        self.assertEqual(self.sums("b.ctf", *streams), plain)
        self.write("b.tsv", "<s> A\t<s> OH\n")
        self.expect_error(3, "b.tsv:1:11: token 'OH' is not in the dictionary sounds", "convert", "b.tsv", "c.ctf",
                          "--dictionary", "letters", "--dictionary", "sounds")
        self.expect_error(3, "b.tsv:1: expected 1 columns", "convert", "b.tsv", "c.ctf", "--dictionary", "letters")

    def test_usage(self):
        self.write("a.ctf", CTF)
        self.expect_error(2, "TO is required", "convert", "a.ctf", *STREAMS)
        self.expect_error(2, "same file", "convert", "a.ctf", "a.ctf", *STREAMS)
        self.expect_error(2, "ctf has no option 'y'", "convert", "a.ctf", "b.ctf", *STREAMS, "--to-option", "y=1")


unittest.main()
