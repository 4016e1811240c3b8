import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Consortium, Environment, Membership, Node, Provider, TetherService } from "../../sdk";
import { bases } from "../support/bases";
import { type Run, Stack } from "../support/double/stack";
import { world } from "../support/lifecycle";
import { send } from "../support/network";
import { proxyServer } from "../support/proxy";
import { newProcess, setEnvironment, start, type Started } from "../support/service";
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
  "docs/troubleshooting": ["object-failed", "unknown-setting"],
  "e2e/fleet/meeting": ["policy-violated"],
  "observe/commands": ["not-installed"],
  "fleet/command": ["loses-ledger"],
  "fleet/file": ["invalid-file"],
  "fleet/ownership": ["stack-of-others"],
  "fleet/recovery": ["stack-locked"],
  "provider/api/api-error": ["not-found", "request-refused", "conflict", "unsupported"],
  "provider/core/session": ["interrupted"],
  "provider/core/state": ["wrong-version"],
  "provider/resources/lost-others": ["unclear-create"],
  "provider/resources/tether": ["tether-failed"],
  "provider/stacks/gone": ["not-listed", "partial-list"],
  "provider/stacks/handover": ["managed-twice"],
  "provider/stacks/others-inside": ["not-empty"],
  "provider/stacks/rotation": ["deleted-outside", "unclear-change"],
  "plugin/resource": ["step-failed"],
  "plugin/service": ["invalid-setting"],
  "service/errors": ["port-taken", "folder-in-use", "data-damaged"],
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

const tree = (opts = {}): void => {
  const consortium = new Consortium("c", { description: "a" }, opts);
  const membership = new Membership("m", { consortium }, opts);
  const environment = new Environment("e", { consortium, provider: "quorum", consensusType: "raft" }, opts);
  new Node("n", { environment, membership }, opts);
};
const tether = (): unknown => new TetherService("t", { tetherId, network: "rinkeby", intervalHours: 2 });
const withSettings = (changes: Record<string, string | undefined>): Promise<Run> => {
  setEnvironment(changes);
  return new Stack("dynamic").up(tree);
};
const throughProxy = (address: string): Record<string, string> => ({ HTTP_PROXY: address, NO_PROXY: "" });
const answering = ({ service }: Started, method: string, status: number, route: RegExp): void =>
  void service.faults.add({ kind: "status", method, status, route, errorMessage: "not now", times: Infinity });
/** A stack, and then another key or organization. */
async function afterwards(change: () => Promise<Record<string, string>>): Promise<Run> {
  const stack = new Stack("dynamic");
  await stack.up(tree);
  setEnvironment(await change());
  return stack.refresh();
}

const stories: Record<string, (started: Started) => Promise<Run>> = {
  "name-taken: a member that came with its consortium": ({ service }) => {
    service.setAnswers({ foundingMembership: true });
    return new Stack("dynamic").up(() => void new Membership("local", { consortium: new Consortium("c") }));
  },
  "cannot-adopt: a name that a service may have written": async ({ service }) => {
    await send(service, "POST", "/consortia", { name: "trade net" });
    return new Stack("dynamic").up(() => void new Consortium("Trade Net", { adopt: true }));
  },
  "no-key: no key": () => withSettings({ CONSORTIUM_API_KEY: undefined }),
  "key-refused: a refused key": () => withSettings({ CONSORTIUM_API_KEY: "revoked" }),
  "not-allowed: a key that may not": (w) => {
    answering(w, "POST", 403, /consortia$/);
    return new Stack("dynamic").up(tree);
  },
  "wrong-organization: a key of another organization": ({ service }) =>
    afterwards(async () => {
      const { apiKey } = service.addOrganization("theirs");
      await send({ baseUrl: service.baseUrl, apiKey }, "POST", "/consortia", { name: "theirs" });
      return { CONSORTIUM_API_KEY: apiKey };
    }),
  "unclear-organization: a key without a consortium": async ({ service }) => {
    service.faults.add({ kind: "status", status: 404, route: /apikeys|orgs|^\/memberships/, times: Infinity });
    return afterwards(() => Promise.resolve({ CONSORTIUM_API_KEY: service.addOrganization("empty").apiKey }));
  },
  "wrong-organization: another organization in the settings": () =>
    afterwards(() => Promise.resolve({ CONSORTIUM_ORGANIZATION: "o-other" })),
  "wrong-organization: another provider": async ({ service }) => {
    const keys = { acme: service.addOrganization("acme").apiKey, globex: service.addOrganization("globex").apiKey };
    const program = (used: "acme" | "globex") => (): void => {
      const providers = {
        acme: new Provider("acme", { apiKey: keys.acme }),
        globex: new Provider("globex", { apiKey: keys.globex }),
      };
      tree({ provider: providers[used] });
    };
    const stack = new Stack("dynamic");
    await stack.up(program("acme"));
    return stack.up(program("globex"));
  },
  "unreachable: a service that is down": () => withSettings({ CONSORTIUM_BASE_URL: "http://127.0.0.1:9/api/v1" }),
  "unreachable: a dead proxy": () => withSettings(throughProxy("http://127.0.0.1:9")),
  "unreachable: a proxy with a password": async () =>
    withSettings(throughProxy((await proxyServer({ status: 407 })).address)),
  "answer-lost: a closing connection": ({ service }) => {
    service.faults.add({ kind: "resetBefore", method: "GET", route: /consortia$/, times: Infinity });
    return new Stack("dynamic").up(tree);
  },
  "too-many-calls: throttled": (w) => {
    answering(w, "GET", 429, /consortia$/);
    return new Stack("dynamic").up(tree);
  },
  "service-failed: maintenance": (w) => {
    answering(w, "GET", 503, /memberships$/);
    return new Stack("dynamic").up(tree);
  },
  "wrong-address: another service": ({ service }) =>
    withSettings({ CONSORTIUM_BASE_URL: `${service.url}/elsewhere/api/v1` }),
  "wrong-address: an address without the version": ({ service }) => withSettings({ CONSORTIUM_BASE_URL: service.url }),
  "clear-text: an address in clear": () => withSettings({ CONSORTIUM_BASE_URL: "http://service.example/api/v1" }),
  "invalid-argument: a provider that is none": () =>
    new Stack("dynamic").up(
      () => void new Environment("e", { consortiumId: "c", provider: "quorm", consensusType: "raft" } as never),
    ),
  "not-deleted: no DELETE": async (w) => {
    const stack = new Stack("dynamic");
    await stack.up(() => new Consortium("c"));
    answering(w, "DELETE", 405, /consortia/);
    return stack.destroy();
  },
  "missing-argument: a forgotten member": () =>
    new Stack("dynamic").up(() => void new Node("n", { consortiumId: "c", environmentId: "e" } as never)),
  "unknown-argument: a misspelled argument": () =>
    new Stack("dynamic").up(() => void new Consortium("c", { descripton: "a" } as never)),
  "name-taken: a name that is taken": async () => {
    await new Stack("dynamic").up(tree);
    newProcess();
    return new Stack("dynamic").up(tree);
  },
  "limit-reached: too many": () =>
    new Stack("dynamic").up(() => ["a", "b", "c"].forEach((name) => new Consortium(name))),
  "cannot-change: no PATCH": async (w) => {
    const stack = new Stack("dynamic");
    await stack.up(tree);
    answering(w, "PATCH", 405, /./);
    return stack.up(() => new Consortium("c", { description: "b" }));
  },
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
const { HTTP_PROXY, NO_PROXY } = process.env;
afterEach(() => setEnvironment({ HTTP_PROXY, NO_PROXY }));

test.each(Object.entries(stories))("%s", async (title, story) => {
  const started = await start({ tethers: [{ id: tetherId, funds: { rinkeby: "0" } }] });
  const { errors, lines } = await story(started);
  const shown = [...errors.map(({ message }) => message), ...lines].join("\n");
  const code = title.split(":")[0]!;
  raised.push(code);
  expect(shown).toContain(` [${code}: docs/troubleshooting.md#${code}]`);
});

test("unknown-setting: a misspelled key in the stack configuration", async () => {
  await start();
  let error = "";
  await new Stack("dynamic", { config: { "consortium:regoin": "eu" } }).up(() => {
    try {
      tree();
    } catch (thrown) {
      error = (thrown as Error).message; // the program itself would end with it
    }
  });
  expect(error).toContain("is not a setting; did you mean");
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
