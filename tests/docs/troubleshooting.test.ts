import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Consortium, Environment, Membership, Node, TetherService } from "../../sdk";
import { bases } from "../support/bases";
import { type Run, Stack } from "../support/double/stack";
import { world } from "../support/lifecycle";
import { send } from "../support/network";
import { setEnvironment, start, type Started } from "../support/service";
import { ether, tetherId } from "../support/tethered";
import { problems } from "../../provider/errors";
import { anchorsOf, pages, root } from "./markdown";

/* Users see every code of docs/troubleshooting.md: each is raised here, or in a test that asks for it. */

const { text } = pages.find(({ file }) => file === "docs/troubleshooting.md")!;
const quoted = [...text.matchAll(/^- (`.*?`): /gm)]
  .flatMap(([, cell = ""]) => cell.split(/(?<=`), (?=`)/))
  .map((one) => one.replaceAll("`", ""));
const codes = Object.keys(problems);

/** Test → the codes that it asks for. */
const askedFor: Record<string, string[]> = {
  "cli/check": ["pulumi-failed"],
  "docs/troubleshooting": ["object-failed"],
  "e2e/fleet/meeting": ["policy-violated"],
  "observe/commands": ["not-installed"],
  "fleet/command": ["loses-ledger"],
  "fleet/file": ["invalid-file"],
  "fleet/ownership": ["stack-of-others"],
  "fleet/recovery": ["stack-locked"],
  "provider/api/answers": ["wrong-address"],
  "provider/api/api-error": [
    ...["not-found", "request-refused", "conflict", "unsupported", "not-allowed"],
    ...["answer-lost", "too-many-calls", "service-failed"],
  ],
  "provider/api/settings": ["unknown-setting"],
  "provider/core/create": ["name-taken", "limit-reached"],
  "provider/core/organization": ["unclear-organization"],
  "provider/core/session": ["interrupted", "key-refused", "unreachable"],
  "provider/core/state": ["wrong-version"],
  "provider/resources/adoption": ["cannot-adopt"],
  "provider/resources/answers": ["cannot-change"],
  "provider/resources/lost-others": ["unclear-create"],
  "provider/resources/tether": ["tether-failed"],
  "provider/stacks/gone": ["not-listed", "partial-list"],
  "provider/stacks/handover": ["managed-twice"],
  "provider/stacks/key-in-preview": ["no-key"],
  "provider/stacks/others-inside": ["not-empty"],
  "provider/stacks/rotation": ["deleted-outside", "unclear-change"],
  "plugin/resource": ["step-failed"],
  "plugin/service": ["invalid-argument", "invalid-setting"],
  "sdk/provider": ["unknown-argument"],
  "service/command": ["port-taken"],
  "service/store/persistence": ["folder-in-use", "data-damaged"],
};

/** Text → the test that sees the real CLI print it. */
const printedByPulumi: Record<string, string> = {
  "Cannot read properties of undefined (reading 'toJavaScript')": "install/npm.test.ts",
  "code must be a string, not undefined": "install/npm.test.ts",
  "no resource plugin 'pulumi-resource-consortium' found": "install/plugin.test.ts",
  "the stack is currently locked by": "life/backends.test.ts",
  "pending operations from previous deployment": "life/killed.test.ts",
  "failed to load checkpoint": "life/interruption.test.ts",
  "1 error occurred:": "life/interruption.test.ts",
};

const tree = (): void => {
  const consortium = new Consortium("c", { description: "a" });
  const membership = new Membership("m", { consortium });
  const environment = new Environment("e", { consortium, provider: "quorum", consensusType: "raft" });
  new Node("n", { environment, membership });
};
const tether = (): unknown => new TetherService("t", { tetherId, network: "rinkeby", intervalHours: 2 });
const answering = ({ service }: Started, method: string, status: number, route: RegExp): void =>
  void service.faults.add({ kind: "status", method, status, route, errorMessage: "not now", times: Infinity });

const stories: Record<string, (started: Started) => Promise<Run>> = {
  "wrong-organization: a key of another organization": async ({ service }) => {
    const stack = new Stack("dynamic");
    await stack.up(tree);
    const { apiKey } = service.addOrganization("theirs");
    await send({ baseUrl: service.baseUrl, apiKey }, "POST", "/consortia", { name: "theirs" });
    setEnvironment({ CONSORTIUM_API_KEY: apiKey });
    return stack.refresh();
  },
  "clear-text: an address in clear": () => {
    setEnvironment({ CONSORTIUM_BASE_URL: "http://service.example/api/v1" });
    return new Stack("dynamic").up(tree);
  },
  "not-deleted: no DELETE": async (w) => {
    const stack = new Stack("dynamic");
    await stack.up(() => new Consortium("c"));
    answering(w, "DELETE", 405, /consortia/);
    return stack.destroy();
  },
  "missing-argument: a forgotten member": () =>
    new Stack("dynamic").up(() => void new Node("n", { consortiumId: "c", environmentId: "e" } as never)),
  "not-ready: not in time": ({ service }) => {
    service.setTiming({ nodeStart: 36_000_000 });
    return new Stack("dynamic").up(tree);
  },
  "no-funds: no funds": () => new Stack("dynamic").up(tether),
  "unclear-deployment: no answer to a deployment": (w) => {
    w.service.store.tethers.setFunds(tetherId, "rinkeby", ether);
    answering(w, "POST", 500, /deploy$/);
    return new Stack("dynamic").up(tether);
  },
};

const raised: string[] = [];

test.each(Object.entries(stories))("%s", async (title, story) => {
  const started = await start({ tethers: [{ id: tetherId, funds: { rinkeby: "0" } }] });
  const { errors, lines } = await story(started);
  const shown = [...errors.map(({ message }) => message), ...lines].join("\n");
  const code = title.split(":")[0]!;
  raised.push(code);
  expect(shown).toContain(` [${code}: docs/troubleshooting.md#${code}]`);
});

test("object-failed: a node", async () => {
  const { engine, service, net, time } = await world("node");
  service.setTiming({ nodeStart: 600_000 });
  const { nodes } = service.store;
  time.when(/^POST .*nodes$/, () => nodes.setState(nodes.list({ name: "n1" })[0]!.id, "failed"), 20_000);
  const { error } = (await engine.up(bases.node(net))) as { error: string };
  expect(error).toMatch(/It went to the state "failed"\. \[object-failed: /);
});

test("each code has a heading, so that its anchor works, and is raised here or in a test that asks for it", () => {
  expect(anchorsOf(pages.find(({ file }) => file === "docs/troubleshooting.md")!)).toEqual(
    expect.arrayContaining(codes) as string[],
  );
  const asked = Object.values(askedFor).flat();
  expect(codes.filter((code) => !raised.includes(code) && !asked.includes(code))).toEqual([]);
  for (const [file, those] of Object.entries(askedFor)) {
    const source = readFileSync(join(root, "tests", `${file}.test.ts`), "utf8");
    expect([file, those.filter((code) => !new RegExp(`["[]${code}\\b`).test(source))]).toEqual([file, []]);
  }
});

test.each(Object.entries(printedByPulumi))("%s: a test of the CLI expects it", (words, file) => {
  expect(quoted).toContain(words);
  expect(readFileSync(join(root, "tests/e2e", file), "utf8")).toContain(words);
});
