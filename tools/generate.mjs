// @ts-check
/*
 * npm run generate: generates files from the definitions of resources, lookups, policies and network files: the objects of the service, the
 * types of the sdk, docs/reference, JSON schemas, examples in other languages, and tables of other pages. With --check, it only says which
 * of them are out of date (exit code 1). Needs the build in dist/.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { aboutFiles } from "./generate/about.mjs";
import { sdkClasses } from "./generate/classes.mjs";
import { commandsPage, hostedPage } from "./generate/commands.mjs";
import { errorCodes, languageFiles, naming, referenceDocs } from "./generate/docs.mjs";
import { installing, projects } from "./generate/installing.mjs";
import { policyDocs } from "./generate/markdown.mjs";
import { profileFiles } from "./generate/profiles.mjs";
import { networkPage, networkSchema, networkTypes } from "./generate/network-files.mjs";
import { terraformPage } from "./generate/terraform.mjs";
import { built, kindsOf, lookupTypes, sdkTypes, wireObjects } from "./generate/types.mjs";
import { root } from "./lib/prepare.mjs";

const { definitions } = built("provider/resources/index.js");
const { problems } = built("provider/errors.js");
const { lookups } = built("provider/lookups/index.js");
const { packageSchema } = built("plugin/schema/index.js");
const { policies } = built("sdk/policy/index.js");

const read = (/** @type {string} */ file) => readFileSync(join(root, file), "utf8");
const schema = networkSchema();
const about = JSON.parse(read("package.json"));
const pluginSchema = packageSchema(about);
const pages = installing(about, read);
/** @type {Record<string, string>} */
const files = {
  ...aboutFiles(about, read),
  "provider/generated.ts": kindsOf(definitions),
  "provider/api/generated.ts": wireObjects(definitions),
  "sdk/generated.ts": sdkTypes(definitions, pluginSchema),
  "sdk/classes/generated.ts": sdkClasses(definitions, built("sdk/resources.js")),
  "sdk/lookups/generated.ts": lookupTypes(lookups),
  ...referenceDocs(definitions, lookups),
  ...pages,
  "README.md": naming(pages["README.md"] ?? "", definitions),
  ...projects(about, read),
  ...languageFiles(about, read),
  ...profileFiles(read),
  ...policyDocs(policies, read("docs/reference/policies.md")),
  "schemas/schema.json": `${JSON.stringify(pluginSchema, null, 2)}\n`,
  "schemas/network.schema.json": `${JSON.stringify(schema, null, 2)}\n`,
  "sdk/network/generated.ts": networkTypes(schema),
  "docs/reference/network-file.md": networkPage(schema),
  "docs/reference/commands.md": commandsPage(),
  ...hostedPage(read),
  "docs/reference/terraform.md": terraformPage(),
  "docs/troubleshooting.md": errorCodes(problems, read("docs/troubleshooting.md")),
};
const checkOnly = process.argv.includes("--check");

const stale = Object.keys(files).filter((file) => !existsSync(join(root, file)) || read(file) !== files[file]);
if (checkOnly) {
  if (stale.length > 0) {
    console.error(`Out of date: ${stale.join(", ")}. Run \`npm run generate\` and commit the result.`);
    process.exit(1);
  }
  console.log(`${Object.keys(files).length} generated files are fresh.`);
} else {
  for (const file of stale) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), files[file] ?? "");
    console.log(`wrote ${file}`);
  }
  if (stale.length === 0) console.log("Everything generated is fresh.");
}
