#!/usr/bin/env python3
"""Checks that the includes of a source tree obey the table of rooms in docs/architecture.md, that every source is
listed in its CMakeLists.txt, and that every file that the page names is there.

    check.py ROOT     prints one line per violation and fails if there is one
"""

import re
import sys
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]', re.MULTILINE)
ROW = re.compile(r"^\|\s*`(\w+)`\s*\|[^|]*\|([^|]*)\|\s*$", re.MULTILINE)
TEST_ROOM = "testing"

# Rooms that are functions of their arguments: no clock, no I/O, no locale, no randomness.
PURE_ROOMS = {"base", "core"}
IMPURE = re.compile(
    r"^(fstream|iostream|istream|ostream|sstream|iomanip|syncstream|random|locale|clocale|thread|ctime|time\.h|"
    r"filesystem|csignal|signal\.h|unistd\.h|fcntl\.h|dirent\.h|poll\.h|pthread\.h|dlfcn\.h|sys/.*|linux/.*|netinet/.*|"
    r"arpa/.*)$"
)

# Libraries stay behind a header of ours: never included in a .h, with the exceptions named here.
LIBRARY = re.compile(
    r"^(nlohmann/|simdjson|cctz/|CLI/|openssl/|libfyaml|libical/|boost/|hiredis|curl/|spdlog/|sqlite3|prometheus/|fmt/|tl/)"
)
IN_HEADER_ALLOWED = {("src/kron/base/result.h", "tl/expected.hpp")}
# In pure rooms a library may be included only here.
PURE_LIBRARIES = {
    "src/kron/base/result.h": "tl/",
    "src/kron/base/sha256.cc": "openssl/",
    "src/kron/core/time_zone.cc": "cctz/",
}

# A Job comes from outside by core/make_job.h alone: what reads a schedule or a draft makes the Job there, except …
DRAFT_READER = re.compile(r"\b(parse_schedule|parse_cron_args|read_job)\(")
MAKES_JOBS = re.compile(r"\bmake_job\(")
MAKES_NO_JOB = {
    "src/kron/json/job_fields.cc": "fills in drafts, of which its callers make jobs",
    "src/kron/json/job_fields.h": "declares that",
    "src/kron/jobs/cronken.cc": "hands cron_args to read_definition",
    "src/kron/jobs/import_cronjob.cc": "looks at the schedule of a manifest, which becomes another manifest",
    "src/kron/jobs/model_write.cc": "reads back what it has printed",
    "apps/kron/next.cc": "shows the times of a schedule",
    "apps/kron/next_batch.cc": "shows the times of schedules",
}


# A file as the page names it: `core/evaluate`, `core/job.h`, `apps/kron/run_end`.
NAMED_FILE = re.compile(r"`((\w+)/[\w./-]*\w)`")


def table_of_rooms(page):
    """Room -> rooms it may use, from the rows `| `room` | what may live here | `a`, `b` |` of the page."""
    table = {}
    for room, uses in ROW.findall(page):
        table[room] = set(re.findall(r"`(\w+)`", uses))
    return table


def table_problems(table):
    """A room may use only rooms above it in the table (the table lists the lowest first), so there are no cycles."""
    seen = set()
    for room, uses in table.items():
        for used in sorted(uses - seen):
            yield f"docs/architecture.md: {room} may not use {used}, which does not stand above it in the table"
        seen.add(room)


def is_test_file(path):
    """x_test.cc, what stands in a room's fake/ directory, tests/ and bench/."""
    return "fake" in path.parts or path.stem.endswith("_test") or path.parts[0] in ("tests", "bench")


def room_of(path):
    """The room a file of the tree belongs to: src/kron/<room>/… or apps/…"""
    if path.parts[:2] == ("src", "kron") and len(path.parts) > 3:
        return path.parts[2]
    return "apps" if path.parts[0] == "apps" else None


def room_problems(path, included, table):
    room = room_of(path)
    parts = included.split("/")
    if room == "apps" and len(parts) == 1:
        return  # a program's own header stands beside its sources
    if parts[0] != "kron" or len(parts) < 3:
        yield f'includes "{included}": write our own headers as "kron/<room>/<name>.h"'
        return
    used = parts[1]
    if used == TEST_ROOM and room != TEST_ROOM and not is_test_file(path):
        yield f"uses {TEST_ROOM}, which is for tests and benchmarks only"
    elif used != TEST_ROOM and used != room and used not in table.get(room, set()):
        yield f"{room} may not use {used}"


def library_problems(path, included):
    name = path.as_posix()
    room = room_of(path)
    if is_test_file(path) or room == TEST_ROOM:
        return
    if room in PURE_ROOMS and IMPURE.match(included):
        yield f"<{included}> in {room}, which knows no clock, no I/O, no locale and no randomness"
    if not LIBRARY.match(included):
        return
    if path.suffix == ".h" and (name, included) not in IN_HEADER_ALLOWED:
        yield f"<{included}> in a header; libraries stay in .cc files"
    elif room in PURE_ROOMS and not included.startswith(PURE_LIBRARIES.get(name, "\0")):
        yield f"<{included}> in {room}; only {', '.join(sorted(PURE_LIBRARIES))} include a library"


def job_problems(path, text):
    if room_of(path) == "core" or is_test_file(path) or path.as_posix() in MAKES_NO_JOB:
        return
    if DRAFT_READER.search(text) and not MAKES_JOBS.search(text):
        yield "reads a job without make_job (core/make_job.h), which checks that it can be scheduled"


def file_problems(path, text, table):
    if room_of(path) not in table:
        yield f"{path}: its room has no row in docs/architecture.md"
        return
    for problem in job_problems(path, text):
        yield f"{path}: {problem}"
    for bracket, included in INCLUDE.findall(text):
        problems = room_problems(path, included, table) if bracket == '"' else library_problems(path, included)
        for problem in problems:
            yield f"{path}: {problem}"


def listing_problems(file, root):
    """A source that no CMakeLists.txt names is never built, and a test never run."""
    for directory in file.parents:
        listing = directory / "CMakeLists.txt"
        if listing.exists():
            name = file.relative_to(directory).as_posix()
            if not re.search(rf"(?<![\w/]){re.escape(name)}(?!\w)", listing.read_text(encoding="utf-8")):
                yield f"{file.relative_to(root)}: not listed in {listing.relative_to(root)}"
            return
        if directory == root:
            return


def name_problems(page, table, root):
    """A walk that names a file which is gone leads a reader astray. A header and its source go by one name."""
    for name, room in sorted(set(NAMED_FILE.findall(page))):
        place = root / name if room == "apps" else root / "src/kron" / name
        if room in table and not any(place.with_name(place.name + end).exists() for end in ("", ".h", ".cc")):
            yield f"docs/architecture.md: names {name}, which is not there"


def check(root):
    page = (root / "docs/architecture.md").read_text(encoding="utf-8")
    table = table_of_rooms(page)
    if not table:
        return ["docs/architecture.md: the table of rooms is missing"]
    problems = list(table_problems(table)) + list(name_problems(page, table, root))
    files = [f for top in ("src", "apps") for f in sorted((root / top).rglob("*")) if f.suffix in (".h", ".cc")]
    for file in files:
        problems += file_problems(file.relative_to(root), file.read_text(encoding="utf-8"), table)
        if file.suffix == ".cc":
            problems += listing_problems(file, root)
    return problems


def main():
    problems = check(Path(sys.argv[1]))
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
