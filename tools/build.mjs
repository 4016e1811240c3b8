// @ts-check
/** npm run build: the sources and the console's page, compiled into dist/. */
import "./lib/node-version.mjs";
import { build } from "./lib/prepare.mjs";
import { runMain } from "./lib/terminal.mjs";

await runMain("npm run build", build);
