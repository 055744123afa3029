// Makes TypeScript types of the API's document, so that the page does not compile against an API that has changed.
//   node types.mjs [FILE [DOCUMENT]]     (default: src/api_types.ts, of krond's own document)
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const home = dirname(fileURLToPath(import.meta.url));
const document = JSON.parse(await readFile(process.argv[3] ?? join(home, "../src/kron/api/openapi.json"), "utf8"));

function typeOf(schema) {
  if (schema === true || schema === undefined) return "unknown";
  if (schema.$ref) return schema.$ref.split("/").pop();
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices) return choices.map(typeOf).join(" | ");
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if ("const" in schema) return JSON.stringify(schema.const);
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type })).join(" | ");
  switch (schema.type) {
    case "string":
      return "string";
    case "integer":
    case "number":
      return "number";
    case "boolean":
      return "boolean";
    case "null":
      return "null";
    case "array": {
      if (schema.prefixItems) return `[${schema.prefixItems.map(typeOf).join(", ")}]`;
      const item = typeOf(schema.items);
      return item.includes(" ") ? `(${item})[]` : `${item}[]`;
    }
    default:
      return objectOf(schema);
  }
}

function objectOf(schema) {
  const required = new Set(schema.required ?? []);
  const members = Object.entries(schema.properties ?? {});
  const lines = members.map(([name, value]) => `${JSON.stringify(name)}${required.has(name) ? "" : "?"}: ${typeOf(value)};`);
  for (const name of required) if (!schema.properties?.[name]) lines.push(`${JSON.stringify(name)}: unknown;`);
  const more = schema.additionalProperties;
  if (more && typeof more === "object") return `{ [key: string]: ${typeOf(more)} }`;
  return lines.length === 0 ? "{ [key: string]: unknown }" : `{ ${lines.join(" ")} }`;
}

const out = ["// Made by web/types.mjs from src/kron/api/openapi.json; a test compares them.", ""];
for (const [name, schema] of Object.entries(document.components.schemas)) out.push(`export type ${name} = ${typeOf(schema)};`, "");
await writeFile(process.argv[2] ?? join(home, "src/api_types.ts"), out.join("\n"));
