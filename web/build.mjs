// Builds the page into DIRECTORY (default: dist): the bundle, not minified, so that it is read and compared like code.
//   node build.mjs [DIRECTORY]
import { build, transform } from "esbuild";
import { execFileSync } from "node:child_process";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const MOST_BYTES = 60_000; // of kron.js and kron.css together, compressed

const home = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(home, "dist");
await mkdir(out, { recursive: true });
const shared = { absWorkingDir: home, bundle: true, target: "es2022", charset: "utf8", legalComments: "none", logLevel: "warning", minifySyntax: true };
await build({
  ...shared,
  entryPoints: [{ in: "src/main.tsx", out: "kron" }, { in: "src/kron.css", out: "kron" }],
  outdir: out,
  format: "esm",
  // Calls of h are shorter than what tsconfig.json says, and are written without a comment each.
  tsconfigRaw: { compilerOptions: { target: "ES2022" } },
  jsx: "transform",
  jsxFactory: "h",
  jsxFragment: "Fragment",
  jsxSideEffects: true,
  inject: ["src/jsx.ts"],
});
// What the browser takes before anything is seen, as cmake/KronEmbed.cmake makes it: without its indentation and
// lines that are a comment.
let taken = 0;
for (const file of ["kron.js", "kron.css"]) {
  const text = await readFile(join(out, file), "utf8");
  const sent = text.replace(/^ */gm, "").replace(/^(\/\/ .*|\/\* .* \*\/)\n/gm, "");
  const meant = async (code) => (await transform(code, { loader: file.split(".")[1], minifyWhitespace: true })).code;
  if ((await meant(sent)) !== (await meant(text))) throw new Error(`${file}: its indentation or a comment is part of a text`);
  taken += execFileSync("gzip", ["-9n"], { input: sent }).length;
}
if (taken > MOST_BYTES) {
  console.error(`build.mjs: the page is ${taken} bytes, compressed; at most ${MOST_BYTES} are allowed`);
  process.exit(1);
}
// The page of `kron simulate`: one file, with everything in it.
const parts = await build({
  ...shared,
  entryPoints: ["src/simulate.ts", "src/simulate.css"],
  outdir: out,
  write: false,
  format: "iife",
  alias: { "@preact/signals": "./src/plain_signal.ts" },
});
const part = (ending) => parts.outputFiles.find((file) => file.path.endsWith(ending)).text;
const frame = await readFile(join(home, "src/simulate.html"), "utf8");
await writeFile(join(out, "simulate.html"), frame.replace("STYLE", () => part(".css")).replace("SCRIPT", () => part(".js")));
for (const file of ["index.html", "kron.svg"]) await copyFile(join(home, "src", file), join(out, file));
const texts = [];
for (const name of ["preact", "@preact/signals", "@preact/signals-core"]) {
  const place = join(home, "node_modules", name);
  const { version } = JSON.parse(await readFile(join(place, "package.json"), "utf8"));
  texts.push(`${name} ${version}\n\n${(await readFile(join(place, "LICENSE"), "utf8")).trim()}\n`);
}
await writeFile(join(out, "LICENSES.txt"), texts.join("\n"));
