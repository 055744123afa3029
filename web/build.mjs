// Builds the page into DIRECTORY (default: dist): the bundle, not minified, so that it is read and compared like code.
//   node build.mjs [DIRECTORY]
import { build } from "esbuild";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const home = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(home, "dist");
await mkdir(out, { recursive: true });
await build({
  absWorkingDir: home,
  entryPoints: [{ in: "src/main.tsx", out: "kron" }, { in: "src/kron.css", out: "kron" }],
  outdir: out,
  bundle: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  charset: "utf8",
  legalComments: "none",
  logLevel: "warning",
});
for (const file of ["index.html", "kron.svg"]) await copyFile(join(home, "src", file), join(out, file));
const texts = [];
for (const name of ["preact", "@preact/signals", "@preact/signals-core"]) {
  const place = join(home, "node_modules", name);
  const { version } = JSON.parse(await readFile(join(place, "package.json"), "utf8"));
  texts.push(`${name} ${version}\n\n${(await readFile(join(place, "LICENSE"), "utf8")).trim()}\n`);
}
await writeFile(join(out, "LICENSES.txt"), texts.join("\n"));
