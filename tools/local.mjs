// @ts-check
/** npm start, npm run destroy, npm run stop, npm run pulumi -- ARGS. Needs nothing but Node.js at first. */
import "./lib/node-version.mjs";
import { local } from "./local/verbs.mjs";

const [verb = "", ...args] = process.argv.slice(2);
await local(verb, args);
