import { AppCred, type Environment, Node, TetherService } from "../../../sdk";
import { type FaultRule } from "../../../service/index";
import { newProcess } from "../../support/service";
import { ledger, onBothAdapters } from "../../support/stacks";
import { ether, posting, tetherId } from "../../support/tethered";
import { rewriting } from "../../support/virtual-time";

/* A 2xx may be a refusal, and an answer may be about another object: the contents count, not the status. */

/** A 200 with this body. */
const says = (body: unknown, times = Infinity): FaultRule => ({ kind: "status", status: 200, body, times });
const no = (errorMessage: string): FaultRule => says({ errorMessage });

const nodes = "/consortia/:consortiumId/environments/:environmentId/nodes";
const withNode = (args: object = {}) =>
  ledger(({ environment, membership }) => void new Node("n", { environment, membership, ...args }));

onBothAdapters((make) => {
  describe("a create", () => {
    test.each([
      [
        "in words",
        { errorMessage: "quota exceeded" },
        /Fix in the program.* HTTP 200: quota exceeded\. \[request-refused:/,
      ],
      [
        "with more than words",
        { code: 7, errorMessage: "no more" },
        /Fix in the program.* HTTP 200: no more\. \[request-refused:/,
      ],
      [
        "with false",
        false,
        /Look for the reason in the console.* HTTP 200: the service answers false, without a reason\. \[conflict:/,
      ],
    ])("that is refused %s is an error at once, and sent again by the next run", async (_, body, why) => {
      const { stack, service, time, calls, expectChanges } = await make(ledger());
      const fault = service.faults.add({ ...says(body), method: "POST", route: nodes });
      const before = time.wall();
      const run = await stack.up(withNode());
      expect(run.failure).toMatch(why);
      expect(time.wall() - before).toBeLessThan(10_000);
      expect(calls().filter((call) => call === `POST ${nodes}`)).toHaveLength(1);
      fault.remove();
      await expectChanges(withNode(), ["create Node n"]);
    });

    test("of a credential that is refused is not a lost password", async () => {
      const { stack, service } = await make(ledger());
      service.faults.add({ ...no("the limit is reached"), method: "POST", route: /appcreds$/ });
      const run = await stack.up(
        ledger(({ environment, membership }) => void new AppCred("a", { environment, membership })),
      );
      expect(run.failure).toContain("HTTP 200: the limit is reached.");
      expect(run.failure).not.toContain("password");
    });

    test("that is answered with an object and a message succeeded", async () => {
      const { stack } = await make(ledger());
      rewriting({
        answer: (text, { method }) =>
          method === "POST" ? JSON.stringify({ ...JSON.parse(text), errorMessage: "slow today" }) : text,
      });
      expect(await stack.up(withNode())).toMatchObject({ errors: [], changes: ["create Node n"] });
    });
  });

  test("a refused change is not recorded, and is sent again", async () => {
    const { stack, service, expectChanges } = await make(withNode({ name: "n1" }));
    const fault = service.faults.add({ ...no("names are frozen today"), method: "PATCH" });
    expect((await stack.up(withNode({ name: "n2" }))).failure).toContain("HTTP 200: names are frozen today.");
    fault.remove();
    await expectChanges(withNode({ name: "n2" }), ["update Node n"]);
    expect(service.store.nodes.list()).toMatchObject([{ fields: { name: "n2" } }]);
  });

  test("a refused deletion is an error with the reason", async () => {
    const { stack, service } = await make(withNode());
    const fault = service.faults.add({ ...no("nodes are frozen today"), method: "DELETE", route: `${nodes}/:nodeId` });
    const run = await stack.up(ledger());
    expect(run.failure).toMatch(/node "n" .* could not be deleted: .*HTTP 200: nodes are frozen today\./);
    expect(stack.of("n").id).toBe(service.store.nodes.list()[0]!.id);
    fault.remove();
    expect(await stack.up(ledger())).toMatchObject({ errors: [], changes: ["delete Node n"] });
  });

  test.each<[string, boolean, object]>([
    ["gone if its id is refused", true, { errorMessage: "the node is no longer accessible" }],
    ["kept if its id shows another object", false, { _id: "another", state: "started" }],
    ["kept if its id shows no object", false, { state: "started" }],
  ])("an unlisted node is %s", async (_, isGone, body) => {
    const { stack, service, time, expectChanges } = await make(withNode());
    const [node] = service.store.nodes.list();
    service.store.nodes.setState(node!.id, "deleted");
    rewriting({
      answer: (text, { method, url }) => {
        if (method !== "GET" || !url.includes("/nodes")) return text;
        const shown = JSON.parse(text) as { _id?: string }[];
        return Array.isArray(shown) ? JSON.stringify(shown.filter(({ _id }) => _id !== node!.id)) : text;
      },
    });
    service.faults.add({ ...says(body), method: "GET", route: new RegExp(`/nodes/${node!.id}$`) });
    time.pass(60_000);
    if (isGone) await expectChanges(withNode(), ["create Node n"]);
    else expect((await stack.refresh()).failure).toMatch(/CONSORTIUM_CONFIRM_DELETED=.*\[not-listed:/);
    expect(stack.of("n").id === node!.id).toBe(!isGone);
  });

  test("a refusal in place of a list proves nothing", async () => {
    const { stack, service } = await make(withNode());
    service.faults.add({ ...no("lists are out of order"), method: "GET", route: nodes });
    expect((await stack.refresh()).failure).toContain("lists are out of order");
    expect(stack.of("n").id).toBe(service.store.nodes.list()[0]!.id);
  });

  describe("a tether", () => {
    const tether = (args: object = {}) =>
      ledger(({ environment }: { environment: Environment }) => {
        const at = { tetherId, network: "rinkeby", intervalHours: 1, ...args } as const;
        void new TetherService("t", at, { dependsOn: environment });
      });
    const begin = () => make(undefined, { tethers: [{ id: tetherId, funds: { rinkeby: ether } }] });
    const fields = ({ service }: Awaited<ReturnType<typeof begin>>) => service.store.tethers.get(tetherId).fields;
    const notStarted = { environment_id: "e", config: { started: false } };

    test.each([
      ["false", false],
      ["started: false", notStarted],
      ["words", { errorMessage: "no contract yet" }],
    ])(
      "that the service does not start, by its answer %s, is not active, and is started by the next run",
      async (_, body) => {
        const world = await begin();
        const { stack, service } = world;
        const fault = service.faults.add({ ...says(body), ...posting("activate") });
        const run = await stack.up(tether());
        expect(run.errors).toHaveLength(1);
        expect(stack.of("t").outputs).not.toMatchObject({ state: "active" });
        expect(fields(world)).not.toMatchObject({ active: true });
        fault.remove();
        expect(await stack.up(tether())).toMatchObject({ errors: [], changes: ["update TetherService t"] });
        expect(fields(world)).toMatchObject({ active: true, deployments: { rinkeby: 1 } });
      },
    );

    test.each([
      ["false", false],
      ["started: true", { config: { started: true } }],
    ])("that the service does not stop, by its answer %s, is still active", async (_, body) => {
      const world = await begin();
      const { stack, service } = world;
      expect(await stack.up(tether())).toMatchObject({ errors: [] });
      const fault = service.faults.add({ ...says(body), ...posting("deactivate") });
      expect((await stack.up(tether({ active: false }))).errors).toHaveLength(1);
      fault.remove();
      expect(await stack.up(tether({ active: false }))).toMatchObject({ errors: [] });
      expect(fields(world)).toMatchObject({ active: false });
    });

    test.each([
      ["in words", { errorMessage: "insufficient funds for the deployment" }],
      ["by its state", { network: "rinkeby", state: "failed" }],
    ])("with a failed deployment, which a 200 says %s, is deployed by the next run", async (_, body) => {
      const world = await begin();
      const { stack, service, calls } = world;
      service.faults.add({ ...says(body, 1), ...posting("deploy") });
      const run = await stack.up(tether());
      expect(run.failure).toMatch(
        /the deployment on rinkeby failed: .* must have funds on rinkeby\..*\[tether-failed:/,
      );
      expect(calls()).not.toContain("POST /tether/:tetherId/activate");
      expect(await stack.up(tether())).toMatchObject({ errors: [] });
      expect(fields(world)).toMatchObject({ active: true, deployments: { rinkeby: 1 } });
    });

    test("with a deployment that is answered with another network is not recorded without a trace of it", async () => {
      const world = await begin();
      world.service.faults.add({ ...says({ config: { targetNetwork: "mainnet" } }, 1), ...posting("deploy") });
      const run = await world.stack.up(tether());
      expect(run.failure).toMatch(
        /CONSORTIUM_NOT_DEPLOYED=.*the service answers that its network is mainnet.*\[unclear-deployment:/s,
      );
      expect(fields(world)).not.toMatchObject({ active: true });
    });
  });

  describe("a change that the service accepts and ignores is a warning", () => {
    const ignoring = (...names: string[]): void =>
      rewriting({
        request: (body, { method }) => {
          const sent = JSON.parse(body) as Record<string, unknown>;
          const ignored = Object.fromEntries(names.map((name) => [name, undefined]));
          return JSON.stringify(method === "PATCH" ? { ...sent, ...ignored } : sent);
        },
      });
    const described = (description?: string, size?: string) =>
      ledger(
        ({ environment, membership }) =>
          void new Node("n", { environment, membership, ...(size !== undefined && { size }) }),
        description === undefined ? {} : { description },
      );

    test.each<[string, string | undefined, string | undefined, string]>([
      ["a first description", undefined, "d", "accepted another description, but still shows none"],
      ["a description that is taken out", "d", undefined, "accepted another description, but still shows the old one"],
    ])("%s", async (_, before, after, warning) => {
      const { stack } = await make(described(before));
      ignoring("description");
      const run = await stack.up(described(after));
      expect([run.errors, run.changes]).toEqual([[], ["update Environment e"]]);
      expect(run.said).toContain(warning);
      newProcess();
      expect(await stack.up(described(after), { refresh: true })).toMatchObject({ errors: [], changes: [], said: "" });
    });

    test.each(["shows another", "shows none"])("a size, and a node that %s is not restarted for it", async (shows) => {
      const { stack, writes } = await make();
      if (shows === "shows none") rewriting({ answer: (text) => text.replaceAll(/,"size":"[^"]*"/g, "") });
      expect(await stack.up(described())).toMatchObject({ errors: [] });
      ignoring("size");
      writes();
      const run = await stack.up(described(undefined, "large"));
      expect(run.errors).toEqual([]);
      expect(run.said).toMatch(/accepted another size, but still shows (none|the old one)\. .* It was not restarted/);
      expect(writes()).toEqual([`PATCH ${nodes}/:nodeId`]);
      newProcess();
      expect(await stack.up(described(undefined, "large"), { refresh: true })).toMatchObject({ changes: [] });
    });

    test("even if its answer repeats the request", async () => {
      const { stack } = await make(described());
      ignoring("description");
      rewriting({
        answer: (text, { method }) =>
          method === "PATCH" ? JSON.stringify({ ...JSON.parse(text), description: "d" }) : text,
      });
      expect((await stack.up(described("d"))).said).toContain("accepted another description, but still shows none");
    });

    test("but a change that is made causes none", async () => {
      const { stack, writes } = await make(described());
      const run = await stack.up(described("d", "large"));
      expect([run.errors, run.said]).toEqual([[], expect.not.stringContaining("accepted another")]);
      expect(writes()).toContainEqual(`PUT ${nodes}/:nodeId/reset`);
      const back = await stack.up(described());
      expect([back.errors, back.said]).toEqual([[], expect.not.stringContaining("accepted another")]);
    });
  });
});
