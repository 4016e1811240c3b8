// @ts-check
/**
 * npm start, npm run destroy, npm run stop, npm run pulumi -- ARGS: the example network on the embedded service, with its own Pulumi
 * state. Needs nothing but Node.js.
 */
import "./lib/node-version.mjs";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { makeStackPlaces, stack, stackEnv, stackExists, tetherIdIn } from "./local/stack.mjs";
import { build, installPackages, root } from "./lib/prepare.mjs";
import { runAttached } from "./lib/processes.mjs";
import { pulumiCli } from "./lib/pulumi-cli.mjs";
import { log, runMain, UserError } from "./lib/terminal.mjs";
import { consoleLink, stackFile, started, startService, stopService } from "./local/service.mjs";

const nextSteps = `
The network is up. What next?
  npm run pulumi -- stack output --show-secrets   the outputs again, with the passwords
  npm run pulumi -- preview                       what a change would do: edit the description in examples/quickstart/index.ts
  npm start                                       makes that change; without a change, it does nothing
  npm run destroy                                 takes the network down
  npm run stop                                    stops the service`;

/** Pulumi's commands that call the service. */
const callers = ["up", "update", "preview", "pre", "refresh", "destroy", "down", "dn", "import", "watch"];

/** @type {Record<string, (args: string[]) => Promise<number>>} */
const verbs = {
  async start() {
    const { pulumi, consortium } = await prepare();
    const code =
      (await pulumi(["stack", "select", stack, "--create"])) || (await pulumi(["up", "--yes", "--suppress-outputs"]));
    if (code !== 0) return failed(code, "Fix the errors above and run `npm start` again, or `npm run destroy`.");
    log("");
    await pulumi(["stack", "output"]);
    await pulumi(["stack", "export", "--file", stackFile(root)]); // for the console; secrets are encrypted in it
    log("");
    const usable = await consortium(["check", "--stack", stack]);
    const next = usable === 0 ? nextSteps : "Do what the table says, then run `npm start` again.";
    const service = started(root);
    const link = service && (await consoleLink(service));
    const see = link
      ? `\n\nSee the network in your browser, with a link that works once, for ten minutes:\n  ${link}`
      : "";
    return done(next + see, usable);
  },
  async destroy() {
    if (!stackExists(root)) return done("There is nothing to destroy.");
    const { pulumi } = await prepare();
    const code = await pulumi(["destroy", "--yes"]);
    return code === 0
      ? done("`npm start` creates it again; `npm run stop` stops the service.")
      : failed(code, "Fix the errors above and run `npm run destroy` again.");
  },
  async stop() {
    return done(
      (await stopService(root))
        ? "The service has stopped. Its data stays in .consortium/service."
        : "The service is not running.",
    );
  },
  async pulumi(args) {
    const { pulumi } = await prepare({ service: args.some((arg) => callers.includes(arg)) });
    return pulumi(args);
  },
};

/**
 * @param {{ service: boolean }} [needs]
 * @returns {Promise<Record<"pulumi" | "consortium", (args: string[]) => Promise<number>>>} run a command on the stack, and return its exit code
 */
async function prepare(needs = { service: true }) {
  await installPackages();
  await build();
  const cli = await pulumiCli();
  const tetherId = tetherIdIn(readFileSync(join(root, "Pulumi.yaml"), "utf8"));
  const service = needs.service ? await startService(root, tetherId) : started(root);
  makeStackPlaces(root);
  const env = stackEnv(root, cli, service, process.env);
  const run = async (/** @type {string} */ command, /** @type {string[]} */ args) =>
    (await runAttached(command, args, { cwd: root, env })).code;
  return {
    pulumi: (args) => run(cli.command, args),
    consortium: (args) => run(process.execPath, [join(root, "dist", "cli", "consortium.js"), ...args]),
  };
}

/** @param {string} text */
const done = (text, code = 0) => (log(text), code);

/**
 * @param {number} code
 * @param {string} remedy
 */
function failed(code, remedy) {
  log(`Pulumi failed. ${remedy}
If a killed run left its lock: docs/recovery.md#a-killed-run, with \`npm run pulumi --\` for \`pulumi\`.`);
  return code;
}

const [verb = "", ...args] = process.argv.slice(2);
await runMain(`npm ${verb === "start" ? "" : "run "}${verb}`, async () => {
  const action = verbs[verb];
  if (!action) throw new UserError(`Say what to do: ${Object.keys(verbs).join(", ")}.`);
  return action(args);
});
