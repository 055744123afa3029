#!/usr/bin/env python3
"""The architecture check must be able to fail: each rule is broken once in a small tree made for it."""

import tempfile
import unittest
from pathlib import Path

from check import check

PAGE = """
| room | may live here | may use |
| --- | --- | --- |
| `base` | words | |
| `testing` | test support | `base` |
| `core` | decisions | `base` |
| `env` | the world | `base` |
| `json` | documents | `base`, `core` |
| `apps` | programs | `base`, `core`, `json` |
"""


class ArchitectureCheck(unittest.TestCase):
    def problems(self, path, text, page=PAGE, listing=None):
        with tempfile.TemporaryDirectory() as directory:
            root = Path(directory)
            (root / "docs").mkdir()
            (root / "docs/architecture.md").write_text(page, encoding="utf-8")
            file = root / path
            file.parent.mkdir(parents=True)
            file.write_text(text, encoding="utf-8")
            if listing is not None:
                (file.parent / "CMakeLists.txt").write_text(listing, encoding="utf-8")
            return check(root)

    def assert_refused(self, path, text, words):
        problems = self.problems(path, text)
        self.assertEqual(len(problems), 1, problems)
        self.assertIn(words, problems[0])

    def assert_allowed(self, path, text):
        self.assertEqual(self.problems(path, text), [])

    def test_allows_what_the_table_allows(self):
        self.assert_allowed("src/kron/json/a.cc", '#include "kron/json/a.h"\n#include "kron/core/job.h"\n#include <vector>\n')
        self.assert_allowed("src/kron/core/a_test.cc", '#include "kron/testing/scale.h"\n#include <fstream>\n')
        self.assert_allowed("src/kron/core/time_zone.cc", "#include <cctz/time_zone.h>\n")
        self.assert_allowed("src/kron/base/sha256.cc", "#include <openssl/evp.h>\n")
        self.assert_allowed("src/kron/base/result.h", "#include <tl/expected.hpp>\n")
        self.assert_allowed("src/kron/json/document.cc", "#include <nlohmann/json.hpp>\n")
        self.assert_allowed("src/kron/env/clock.cc", "#include <ctime>\n#include <sys/timerfd.h>\n")

    def test_refuses_an_arrow_that_points_up(self):
        self.assert_refused("src/kron/core/a.cc", '#include "kron/json/a.h"\n', "core may not use json")

    def test_refuses_neighbours_that_must_not_know_each_other(self):
        self.assert_refused("src/kron/core/a.h", '#include "kron/env/clock.h"\n', "core may not use env")
        self.assert_refused("src/kron/env/a.h", '#  include "kron/core/job.h"\n', "env may not use core")

    def test_refuses_a_page_that_names_a_file_which_is_gone(self):
        names = PAGE + "\n`core/a` → `core/b.cc` → `core` → `docs/c.md` → `tests/d`\n"
        problems = self.problems("src/kron/core/a.h", "", page=names)
        self.assertEqual(problems, ["docs/architecture.md: names core/b.cc, which is not there"])

    def test_refuses_a_job_that_is_read_and_not_made(self):
        read = "const auto schedule = parse_schedule(text, name);\n"
        self.assert_refused("src/kron/json/a.h", read, "without make_job")
        self.assert_refused("apps/a.h", "read_job(draft, fields, zones);\n", "without make_job")
        self.assert_allowed("src/kron/json/a.h", read + "return make_job(draft);\n")
        self.assert_allowed("src/kron/core/a.h", read)
        self.assert_allowed("src/kron/json/job_fields.h", read)
        self.assert_allowed("src/kron/json/a_test.cc", read)

    def test_refuses_an_upward_arrow_in_a_test_too(self):
        self.assert_refused("src/kron/core/a_test.cc", '#include "kron/json/a.h"\n', "core may not use json")

    def test_refuses_the_world_in_pure_rooms(self):
        for header in ("fstream", "iostream", "random", "locale", "thread", "ctime", "filesystem", "unistd.h", "sys/stat.h"):
            self.assert_refused("src/kron/core/a.cc", f"#include <{header}>\n", "knows no clock")
            self.assert_refused("src/kron/base/a.h", f"#include <{header}>\n", "knows no clock")

    def test_refuses_a_library_in_a_header(self):
        for header in ("nlohmann/json.hpp", "CLI/CLI.hpp", "libfyaml.h", "libical/ical.h", "boost/asio.hpp", "openssl/evp.h", "tl/expected.hpp"):
            self.assert_refused("src/kron/json/a.h", f"#include <{header}>\n", "libraries stay in .cc files")

    def test_refuses_a_library_elsewhere_in_pure_rooms(self):
        self.assert_refused("src/kron/core/civil.cc", "#include <cctz/civil_time.h>\n", "only src/kron/base/result.h")
        self.assert_refused("src/kron/base/text.cc", "#include <openssl/evp.h>\n", "only src/kron/base/result.h")

    def test_refuses_test_support_outside_tests(self):
        self.assert_refused("src/kron/core/a.cc", '#include "kron/testing/scale.h"\n', "for tests and benchmarks only")
        self.assert_refused("apps/kron/main.cc", '#include "kron/testing/scale.h"\n', "for tests and benchmarks only")

    def test_refuses_a_room_without_a_row(self):
        self.assert_refused("src/kron/attic/a.cc", "", "no row")

    def test_refuses_a_header_by_its_bare_name(self):
        self.assert_refused("src/kron/core/a.cc", '#include "job.h"\n', "kron/<room>/<name>.h")

    def test_refuses_a_table_with_an_upward_arrow(self):
        page = PAGE.replace("| `core` | decisions | `base` |", "| `core` | decisions | `base`, `json` |")
        self.assertIn("does not stand above it", self.problems("src/kron/core/a.cc", "", page)[0])

    def test_refuses_a_source_that_is_not_listed(self):
        listing = "kron_room(core SOURCES a_test.cc ab.cc fake/a.cc)"
        self.assertIn("not listed", self.problems("src/kron/core/a.cc", "", listing=listing)[0])
        self.assertEqual(self.problems("src/kron/core/ab.cc", "", listing=listing), [])
        self.assertEqual(self.problems("src/kron/core/a.h", "", listing=listing), [])

    def test_refuses_a_page_without_a_table(self):
        self.assertIn("table of rooms is missing", self.problems("src/kron/core/a.cc", "", "nothing")[0])


if __name__ == "__main__":
    unittest.main()
