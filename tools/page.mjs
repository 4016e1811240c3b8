// @ts-check
/** A part of npm run build: the console's page, into dist/. */
import { fileURLToPath } from "node:url";
import { buildPage } from "./lib/console-page.mjs";

await buildPage(fileURLToPath(new URL("..", import.meta.url)));
