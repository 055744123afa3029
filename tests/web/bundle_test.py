"""web/dist is what web/src makes, and the page compiles against the API's document as it is. Skipped (77) where there is no
npm."""

import filecmp
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

WEB = Path(__file__).resolve().parents[2] / "web"

if not shutil.which("node") or not (WEB / "node_modules/esbuild").exists():
    print("NOT TESTED: the bundle of the page. Run scripts/deps web.")
    sys.exit(1 if os.environ.get("BROWSER_REQUIRED") else 77)


def node(*words):
    return subprocess.run(["node", *map(str, words)], cwd=WEB, capture_output=True, text=True, check=False, timeout=240)


class Bundle(unittest.TestCase):
    def setUp(self):
        self.place = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_it_is_what_the_sources_make(self):
        made = node("build.mjs", self.place)
        self.assertEqual(made.returncode, 0, made.stderr)
        names = sorted(path.name for path in self.place.iterdir())
        self.assertEqual(names, sorted(path.name for path in (WEB / "dist").iterdir()))
        _, different, _ = filecmp.cmpfiles(self.place, WEB / "dist", names, shallow=False)
        self.assertEqual(different, [], "run make web, and commit web/dist")

    def compiled(self, *document):
        """What the compiler says to the page, with the types of this document."""
        if not (self.place / "src").exists():
            shutil.copytree(WEB / "src", self.place / "src")
            shutil.copy(WEB / "tsconfig.json", self.place)
            (self.place / "node_modules").symlink_to(WEB / "node_modules")
        made = node("types.mjs", self.place / "src/api_types.ts", *document)
        self.assertEqual(made.returncode, 0, made.stderr)
        return node("node_modules/typescript/bin/tsc", "--noEmit", "-p", self.place)

    def test_it_compiles_strictly_against_the_document_of_the_api(self):
        checked = self.compiled()
        self.assertEqual(checked.returncode, 0, checked.stdout)
        self.assertTrue(filecmp.cmp(self.place / "src/api_types.ts", WEB / "src/api_types.ts", shallow=False),
                        "run make web, and commit web/src/api_types.ts")

    def test_it_does_not_compile_against_another_document(self):
        other = json.loads((WEB.parent / "src/kron/api/openapi.json").read_text(encoding="utf-8"))
        renamed = [("Run", "exitCode"), ("Timeline", "lanes"), ("Why", "sentence")]
        for schema, member in renamed:
            document = other["components"]["schemas"][schema]
            document["properties"]["another"] = document["properties"].pop(member)
            document["required"] = [name for name in document["required"] if name != member]
        path = self.place / "openapi.json"
        path.write_text(json.dumps(other), encoding="utf-8")
        checked = self.compiled(path)
        self.assertNotEqual(checked.returncode, 0)
        for _, member in renamed:
            self.assertIn(f"'{member}' does not exist", checked.stdout)

    def test_a_browser_takes_less_than_60_kilobytes_for_it(self):
        # As cmake/KronEmbed.cmake sends it; front_test.py counts what comes.
        texts = [re.sub(rb"^ *", b"", (WEB / "dist" / name).read_bytes(), flags=re.MULTILINE) for name in ("kron.js", "kron.css")]
        sent = [re.sub(rb"^(?:// .*|/\* .* \*/)\n", b"", text, flags=re.MULTILINE) for text in texts]
        taken = [len(gzip.compress(text, 9)) for text in sent]
        self.assertLessEqual(sum(taken), 60_000, taken)

    def test_its_pure_parts(self):
        tested = node("--test", "--test-reporter=tap", "test/pure.test.mjs")
        self.assertEqual(tested.returncode, 0, tested.stdout)

    def test_nothing_makes_markup_of_text(self):
        for path in (WEB / "src").rglob("*.ts*"):
            text = path.read_text(encoding="utf-8")
            for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "dangerouslySet", "eval(", "Function("):
                self.assertNotIn(word, text.replace("Function()", ""), path)


if __name__ == "__main__":
    unittest.main()
