import { CheckRequest } from "@pulumi/pulumi/proto/provider_pb";
import { type Service } from "../../service/index";
import { Protocol, urnOf } from "../support/protocol";
import { newProcess, start } from "../support/service";

/** `pulumi:autonaming`: the engine proposes a name with `Check`, by the provider's and the type's configuration. */

const { PROPOSE, ENFORCE, DISABLE } = CheckRequest.AutonamingOptions.Mode;
const naming = (mode: CheckRequest.AutonamingOptions.Mode, name = "") => {
  const options = new CheckRequest.AutonamingOptions();
  options.setMode(mode);
  options.setProposedName(name);
  return options;
};

let protocol: Protocol;
let service: Service;
beforeEach(async () => {
  ({ service } = await start());
  protocol = await Protocol.start();
  await protocol.configure({});
});
afterEach(() => protocol.close());

async function nextRun(): Promise<void> {
  protocol.close(false);
  newProcess();
  protocol = await Protocol.start();
  await protocol.configure({});
}

const nameOf = async (...asked: Parameters<Protocol["check"]>) => (await protocol.check(...asked)).inputs.name;

test("the engine learns of it from Handshake and Configure", async () => {
  const told = await Promise.all([protocol.handshake(), protocol.configured()]);
  expect(told.map((answer) => answer.getSupportsAutonamingConfiguration())).toEqual([true, true]);
  expect(told[0].getAcceptSecrets()).toBe(true);
});

test.each([
  ["pattern", PROPOSE, "dev-acme"],
  ["verbatim, or an enforced pattern", ENFORCE, "acme"],
])("%s: the name of a resource without one, of each type with names", async (_, mode, proposed) => {
  const autonaming = naming(mode, proposed);
  expect(await nameOf("Consortium", {}, undefined, autonaming)).toBe(proposed);
  expect(await nameOf("Consortium", { name: "own" }, undefined, autonaming)).toBe("own");
  const { inputs } = await protocol.check("Membership", { consortiumId: "c" }, undefined, autonaming);
  expect(inputs).toMatchObject({ consortiumId: "c", orgName: proposed });
  const tether = { tetherId: "tether0001", network: "rinkeby", intervalHours: 1 };
  const { inputs: unnamed, failures } = await protocol.check("TetherService", tether, undefined, autonaming);
  expect(failures).toEqual([]);
  expect(Object.values(unnamed)).not.toContain(proposed);
});

test("without configuration, the name is the resource's, even after the resource is renamed", async () => {
  expect(await nameOf("Consortium", {})).toBe("acme");
  expect(await nameOf(urnOf("Consortium", "other"), {}, { name: "acme" })).toBe("other");
  const { inputs } = await protocol.check("Consortium", {});
  expect(inputs).toEqual({ name: "acme" });
});

test("disabled: a name is required", async () => {
  const { failures } = await protocol.check("Membership", { consortiumId: "c" }, undefined, naming(DISABLE));
  const reason = expect.stringMatching(
    /orgName is required, because pulumi:autonaming .* set it in the program/,
  ) as string;
  expect(failures).toEqual([{ property: "orgName", reason }]);
  const given = await protocol.check("Consortium", { name: "own" }, undefined, naming(DISABLE));
  expect(given).toEqual({ inputs: { name: "own" }, failures: [] });
});

test("a generated name stays: with another pattern, without any, and after a refresh; a replacement gets a new one", async () => {
  const { inputs: made } = await protocol.check("Consortium", {}, undefined, naming(PROPOSE, "dev-1"));
  for (const later of [naming(PROPOSE, "dev-2"), naming(ENFORCE, "x"), naming(DISABLE), undefined])
    expect(await protocol.check("Consortium", {}, made, later)).toEqual({ inputs: made, failures: [] });
  const { id, outs } = await protocol.create("Consortium", made);
  expect(outs).toMatchObject({ name: "dev-1" });
  expect((await protocol.diff("Consortium", id, outs, made)).getChanges()).toBe(1);
  let seen = { outs, inputs: made };
  for (const description of [undefined, "drifted", "again"]) {
    if (description) service.store.consortia.patch(id, { description });
    await nextRun();
    seen = await protocol.read("Consortium", id, seen.outs, seen.inputs);
    expect(seen.inputs.description).toBe(description);
    expect(await nameOf("Consortium", {}, seen.inputs)).toBe("dev-1");
  }
  // For a replacement, the engine shows no earlier inputs.
  expect(await nameOf("Consortium", {}, undefined, naming(PROPOSE, "dev-2"))).toBe("dev-2");
  // A name that the program once gave stays as well, instead of a rename.
  const given = await protocol.check("Consortium", {}, { name: "given" }, naming(PROPOSE, "dev-2"));
  expect(given.inputs).toEqual({ name: "given" });
  expect(await nameOf("Consortium", { name: "now" }, made, naming(PROPOSE, "dev-2"))).toBe("now");
});

test("the next run finds the object of a killed run: its resource, and no other, gets that name again", async () => {
  const next = async (resource = "Consortium", ...state: Parameters<Protocol["diff"]> | []) => {
    await nextRun();
    if (state.length > 0) await protocol.diff(...(state as Parameters<Protocol["diff"]>));
    return nameOf(resource, {}, undefined, naming(PROPOSE, "dev-2"));
  };
  const { inputs } = await protocol.check("Consortium", {}, undefined, naming(PROPOSE, "dev-1"));
  const { id, outs } = await protocol.create("Consortium", inputs);
  expect(await next(urnOf("Consortium", "other"))).toBe("dev-2");
  expect(await next()).toBe("dev-1");
  // Another kind of the same logical name has another place.
  const member = await protocol.check("Membership", { consortiumId: "c" }, undefined, naming(PROPOSE, "dev-2"));
  expect(member.inputs.orgName).toBe("dev-2");
  expect((await protocol.create("Consortium", { name: "dev-1" })).id).toBe(id);
  // A replacement of an object in the state needs another one.
  expect(await next("Consortium", "Consortium", id, outs, inputs)).toBe("dev-2");
});

test("classes on the plugin leave the name to it, and say so", async () => {
  const autonaming = naming(PROPOSE, "dev-acme");
  expect(await nameOf("Consortium", { name: "acme", __unnamed: true }, undefined, autonaming)).toBe("dev-acme");
  expect(await nameOf("Consortium", { name: "acme", __unnamed: true })).toBe("acme");
  // A transform of the program has set another one.
  expect(await nameOf("Consortium", { name: "set", __unnamed: true }, undefined, autonaming)).toBe("set");
});
