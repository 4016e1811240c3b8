import * as runtime from "../../../provider/dynamic/runtime";
import { stub } from "../../../provider/constants";
import { bases } from "../../support/bases";
import { secret } from "../../support/double/wire";
import { type Props, unknown } from "../../support/engine";
import { network } from "../../support/network";
import { newProcess, start } from "../../support/service";

/* The shapes that the host of dynamic providers expects. */

const __provider = stub("consortium");
const { configuration, consortium, node } = runtime;

test("the shapes of all verbs", async () => {
  await start();
  const checked = await consortium.check({}, { name: "acme", description: "d", __provider });
  expect(checked).toEqual({ inputs: { name: "acme", description: "d" }, failures: [] });

  const { id, outs } = await consortium.create({ ...checked.inputs, __provider });
  expect(outs).toMatchObject({ name: "acme", description: "d", state: "setup", owner: expect.any(String) as string });
  expect(outs).not.toHaveProperty("__provider");

  const state = { ...outs, __provider };
  expect(await consortium.diff(id, state, { ...checked.inputs, __provider })).toEqual({
    changes: false,
    replaces: [],
    deleteBeforeReplace: false,
  });
  // A state of the plugin is updated, so that it names the code that this host needs.
  const { changes, replaces } = await consortium.diff(id, outs, { ...checked.inputs, __provider });
  expect({ changes, replaces }).toEqual({ changes: true, replaces: [] });
  expect(await consortium.read(id, state)).toEqual({ id, props: outs });
  const before = { name: "acme" };
  const kept = { ...((state as Record<string, unknown>).__kept as object), asked: before, answered: before };
  const drifted = { ...state, name: "renamed in the console", __kept: kept };
  expect(await consortium.read(id, drifted)).toEqual({ id, props: outs, inputs: { name: "acme", description: "d" } });

  const news = { name: "zeta", __provider };
  const updated = await consortium.update(id, state, news);
  expect(updated).toEqual({ outs: { ...outs, name: "zeta", description: undefined, revision: "1" } });
  expect(Object.keys(updated.outs)).not.toContain("description");

  expect(await consortium.delete(id, { ...updated.outs, __provider })).toBeUndefined();
  newProcess();
  expect(await consortium.read(id, state)).toEqual({ id: "" });
});

test("check marks values that are always secret, which a transform of the program may have set", async () => {
  const { service, time } = await start();
  const args = bases.configuration(await network(service, time));
  const { inputs } = await configuration.check({}, { ...args, details: { gas_price: "4711" }, __provider });
  expect(inputs).toMatchObject({ ...args, details: { gas_price: secret("4711") } });
  for (const details of [unknown, { gas_price: unknown }])
    expect(await configuration.check({}, { ...args, details, __provider })).toMatchObject({ inputs: { details } });
});

describe("errors", () => {
  test("an object that exists but is not ready: id, all properties with __provider, and reasons", async () => {
    const { service, time, said } = await start({ timing: { nodeStart: 600_000 } });
    const net = await network(service, time);
    const inputs = { ...bases.node(net), customTimeouts: { create: 3, update: 3 }, __provider: stub("node") };
    const error = (await node.create(inputs).catch((caught: unknown) => caught)) as {
      id: string;
      properties: Props;
      reasons: string[];
      message: string;
    };
    const [made] = service.store.nodes.list({ name: "n1" });
    expect(error.id).toBe(made!.id);
    expect(error.properties).toMatchObject({ ...inputs, state: "initializing", role: "validator", revision: "0" });
    expect(error.reasons).toEqual([error.message]);
    expect(error.message).toMatch(
      /^node "n1" \(\w+\): Run `pulumi up` again to continue\. It exists .*not ready: still "initializing"/,
    );
    expect(said).not.toContain(error.message); // Pulumi shows it
    const later = (await node
      .update(error.id, error.properties, inputs)
      .catch((caught: unknown) => caught)) as typeof error;
    expect([later.id, later.properties.__provider]).toEqual([made!.id, stub("node")]);
  });

  test("everything else: a message for people, no id, no stack of this package", async () => {
    await start({ limits: { consortia: 0 } });
    const error = (await consortium.create({ name: "a", __provider }).catch((caught: unknown) => caught)) as Error;
    expect(error.message).toMatch(
      /^consortium "a": Once nothing else .* POST \/consortia: HTTP 409: The limit is reached.*\[conflict:/,
    );
    expect(error).not.toHaveProperty("id");
    expect(`${String(error)}: ${error.stack}`).not.toMatch(/\.ts|node_modules|at async/);
  });

  test("the host's repetition of a message is not shown; its other output is", async () => {
    await start();
    const print = jest.spyOn(console, "error").mockImplementation(() => undefined);
    await jest.isolateModulesAsync(async () => {
      const { consortium: anew } = await import("../../../provider/dynamic/runtime");
      const error: unknown = await anew.read("", { __provider }).catch((caught: unknown) => caught);
      console.error(`${String(error)}: ${(error as Error).stack}`);
      console.error("out of memory");
    });
    expect(print.mock.calls).toEqual([["out of memory"]]);
    print.mockRestore();
  });

  test("a password never shows in a message", async () => {
    const { service, time, said } = await start();
    const net = await network(service, time);
    service.faults.add({ kind: "resetAfter", method: "POST" });
    const { outs } = await runtime.appCred.create({ ...bases.appCred(net), __provider: stub("appCred") });
    expect(outs.password).toEqual(expect.any(String));
    expect(said.length).toBeGreaterThan(0);
    expect(said.join("\n")).not.toContain(outs.password);
    expect(said.join("\n")).not.toContain(service.apiKey);
  });
});

test("a `get` that finds nothing is an error that names the object; a refresh finds it gone", async () => {
  const { service, time } = await start();
  const { consortiumId, environmentId, nodeId } = await network(service, time);
  const where = { consortiumId, environmentId };
  await expect(node.read("nonesuch", { ...where, name: "n", __provider })).rejects.toThrow(
    `Node "nonesuch" was not found in /consortia/${consortiumId}/environments/${environmentId}/nodes: check the id`,
  );
  await expect(consortium.read("nonesuch", { name: "c", __provider })).rejects.toThrow(
    'Consortium "nonesuch" was not found in /consortia: check the id, and that the API key belongs to the organization',
  );
  const { props } = await node.read(nodeId, { ...where, name: "n", __provider });
  expect(await node.read("nonesuch", { ...props, __provider })).toEqual({ id: "" });
});
