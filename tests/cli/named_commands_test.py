"""Every command that a text of ours names in backticks is one that kron has, with the flags that are named."""

import re
import unittest
from pathlib import Path

from kron_command import run

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("src/kron", "apps", "web/src")
NAMED = re.compile(r"`kron ((?:[a-z-]+|[A-Z]+|<[^>`]*>|\$\{[^}`]*\}|--?[a-z-]+|[a-z0-9./=]+)(?: [^`\n]*?)?)(?:`|\"|$)")
WORD = re.compile(r"[a-z][a-z-]*")
# These have commands of their own.
NESTED = ("cluster", "kube", "task", "token", "notify", "state", "import", "completion")


def named_in(text):
    """[(words, flags)] of the commands that the text names; one that goes on in another string is cut there."""
    found = []
    for match in NAMED.finditer(text):
        words = match.group(1).split()
        if not WORD.fullmatch(words[0]):
            continue
        command = [words[0]]
        if words[0] in NESTED and len(words) > 1 and WORD.fullmatch(words[1]):
            command.append(words[1])
        flags = [word.split("=")[0] for word in words if re.fullmatch(r"--?[a-z][a-z-]*(=.*)?", word)]
        found.append((tuple(command), tuple(flags)))
    return found


def named_by_sources():
    """{(words, flags): a file that names it}"""
    found = {}
    for directory in SOURCES:
        for path in sorted((ROOT / directory).rglob("*")):
            if path.suffix not in (".cc", ".h", ".ts", ".tsx") or path.stem.endswith("_test"):
                continue
            for named in named_in(path.read_text()):
                found.setdefault(named, path.relative_to(ROOT))
    return found


class NamedCommands(unittest.TestCase):
    def test_each_is_a_command_of_kron_with_these_flags(self):
        named = named_by_sources()
        self.assertGreater(len(named), 40)
        helps = {}
        for (command, flags), path in named.items():
            with self.subTest(command=" ".join(command), file=str(path)):
                if command not in helps:
                    helps[command] = run(*command, "--help")
                self.assertEqual(helps[command].returncode, 0, helps[command].stderr)
                # The help of a command shows its own name, and not that of the one it belongs to.
                self.assertIn(" ".join(("kron", *command)), helps[command].stdout.split("Examples:")[0])
                for flag in flags:
                    self.assertRegex(helps[command].stdout, rf"(?m)^\s+(-\w,)?{flag}\b|,{flag}\b|\s{flag}[,=\s]")

    def test_what_names_one_is_found(self):
        self.assertEqual(named_in('"`kron ps` shows"'), [(("ps",), ())])
        self.assertEqual(named_in('"`kron runs --result running` shows"'), [(("runs",), ("--result",))])
        self.assertEqual(named_in('"`kron logs -f " + id'), [(("logs",), ("-f",))])
        self.assertEqual(named_in('"`kron task retry` sends"'), [(("task", "retry"), ())])
        self.assertEqual(named_in("// `kron ${verb}`, the page of `kron web`"), [(("web",), ())])

    def test_one_that_kron_has_not_is_refused(self):
        self.assertEqual(run("ps", "--help").returncode, 2)
        self.assertNotIn("kron task ps", run("task", "ps", "--help").stdout)


if __name__ == "__main__":
    unittest.main()
