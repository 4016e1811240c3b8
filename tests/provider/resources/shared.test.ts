import { Engine, type Props } from "../../support/engine";
import { bases, collectionOf } from "../../support/bases";
import { world, type World } from "../../support/lifecycle";
import { send } from "../../support/network";
import { newProcess } from "../../support/service";

/* Zones and utility services have several users: they are adopted unchanged, and stay while others use them. */

const post = ({ service }: World, path: string, body: object): Promise<string> =>
  send(service, "POST", path, body).then(({ _id }) => _id);
const zones = ({ net }: World): string => collectionOf("environmentZone", net);
const zoneKinds = ["consortiumZone", "environmentZone"] as const;
const theirs = { name: "theirs", region: "us-east-2", cloud: "aws" };

describe("an existing zone", () => {
  test("is adopted with its own name, and keeps it until the program asks for another", async () => {
    const at = await world("environmentZone");
    const { engine, net, writes, shown, said } = at;
    const id = await post(at, zones(at), theirs);
    const args = { ...bases.environmentZone(net), adopt: true };
    writes();
    expect(await engine.up(args)).toEqual({ then: "created" });
    expect(engine.kept!.id).toBe(id);
    expect(engine.outputs).toMatchObject({ name: "theirs" });
    expect(said.join("\n")).toContain('others share it, so it stays as it is: name is "theirs"');
    expect(await engine.up(args)).toEqual({ then: "same" });
    expect(await engine.refresh()).toBe("there");
    expect(await engine.up(args)).toEqual({ then: "same" });
    expect(await engine.up({ ...args, customTimeouts: { create: 60 } })).toEqual({ then: "updated" });
    expect(engine.outputs).toMatchObject({ name: "theirs" });
    expect(writes()).toEqual([]);
    expect(await engine.up({ ...args, name: "ours" })).toEqual({ then: "updated" });
    expect(await shown()).toMatchObject({ name: "ours" });
  });
});

describe("a zone after its resource is deleted", () => {
  /** A zone with a node or a service that this stack does not know. */
  async function used(at: World, by: "node" | "service"): Promise<string> {
    const { engine, net, writes, time } = at;
    await engine.up(bases.environmentZone(net));
    const zone_id = engine.kept!.id;
    const other = { name: "other", membership_id: net.otherMembershipId, ...(by === "service" && { service: "ipfs" }) };
    await post(at, collectionOf(by, net), { ...other, name: "elsewhere" });
    const user = await post(at, collectionOf(by, net), { ...other, zone_id });
    time.pass(10_000);
    newProcess();
    writes();
    return user;
  }

  test.each(zoneKinds)("%s: stays if it was adopted, whether somebody uses it or not", async (kind) => {
    const at = await world(kind);
    const { engine, net, calls, shown, said } = at;
    await post(at, collectionOf(kind, net), theirs);
    await engine.up({ ...bases[kind](net), adopt: true });
    newProcess();
    await engine.refresh();
    const { kept } = engine;
    calls();
    await engine.destroy();
    expect(calls()).toEqual([]);
    expect(said.join("\n")).toContain("is left as it is, because it was adopted, and others may share it");
    engine.kept = kept!;
    expect(await shown()).toBeDefined();
  });

  test.each(["node", "service"] as const)("stays while a %s of another organization runs there", async (by) => {
    const at = await world("environmentZone");
    const { engine, net, writes, shown, said, service } = at;
    const user = await used(at, by);
    service.store.memberships.patch(net.otherMembershipId, { org_id: "another" });
    const { kept } = engine;
    await engine.destroy();
    expect(writes()).toEqual([]);
    expect(said.join("\n")).toContain(
      `is left as it is, because the ${by} ${user} runs there, and it belongs to another organization`,
    );
    engine.kept = kept!;
    expect(await shown()).toBeDefined();
  });

  test.each(["node", "service"] as const)(
    "is kept in the state while a %s runs there that may be its own",
    async (by) => {
      const at = await world("environmentZone");
      const { engine, writes, shown } = at;
      const user = await used(at, by);
      await expect(engine.destroy()).rejects.toThrow(
        new RegExp(
          `delete first what uses it, if that is this stack's.*state delete.*is not deleted: the ${by} ${user} runs there\\.`,
        ),
      );
      expect(writes()).toEqual([]);
      expect(await shown()).toBeDefined();
      await send(at.service, "DELETE", `${collectionOf(by, at.net)}/${user}`);
      at.time.pass(60_000);
      await engine.destroy();
      expect(await at.count()).toBe(0);
    },
  );

  test.each([
    ["a zone there", {}],
    ["a zone there, with another spelling of the cloud", { cloud: "AWS" }],
  ])("is not deleted while an environment has %s, unless that is itself being deleted", async (_title, other) => {
    const at = await world("consortiumZone");
    const { engine, net, shown, service } = at;
    await post(at, zones(at), { ...theirs, name: "another", region: "eu-west-1" });
    const inside = await post(at, zones(at), { ...theirs, ...other });
    await engine.up(bases.consortiumZone(net));
    const kept = engine.kept!;
    newProcess();
    await expect(engine.destroy()).rejects.toThrow(
      `is not deleted: the environment ${net.environmentId} has a zone there (${inside})`,
    );
    expect(await shown()).toBeDefined();

    service.store.environments.setState(net.environmentId, "deleting");
    newProcess();
    await engine.destroy();
    engine.kept = kept;
    expect(await shown()).toBeUndefined();
  });

  test("stays if the service refuses to delete it, with a message", async () => {
    const at = await world("environmentZone");
    const { engine, net, service, said, time } = at;
    await engine.up(bases.environmentZone(net));
    const refusal = { errorMessage: "The zone is used by another organization." };
    service.faults.add({ kind: "status", status: 409, method: "DELETE", times: Infinity, body: refusal } as never);
    time.pace = 0;
    await engine.destroy();
    expect(said.join("\n")).toContain("is left as it is, because others may share it");
  });

  test("a refusal that says to wait does not mean that others use it, however long it lasts", async () => {
    const { engine, net, service, count, time } = await world("environmentZone");
    await engine.up(bases.environmentZone(net));
    const refusal = { errorMessage: "The zone is still being configured." };
    service.faults.add({ kind: "status", status: 409, method: "DELETE", times: Infinity, body: refusal } as never);
    time.pace = 0;
    await expect(engine.destroy()).rejects.toThrow(/could not be deleted: .*still being configured/);
    expect([await count(), engine.kept !== undefined]).toEqual([1, true]);
    service.faults.clear();
    await engine.destroy();
    expect(await count()).toBe(0);
  });
});

describe("a utility service", () => {
  const registry = ({ net }: World): Props => ({ ...bases.service(net), service: "idregistry", name: "registry" });
  const made = (at: World): Promise<string> =>
    post(at, collectionOf("service", at.net), {
      name: "theirs",
      service: "idregistry",
      membership_id: at.net.otherMembershipId,
    });

  test("of others is adopted by its type, whoever owns it, and stays unchanged", async () => {
    const at = await world("service");
    const { engine, writes, shown, time } = at;
    const id = await made(at);
    time.pass(10_000);
    writes();
    const args = { ...registry(at), adopt: true };
    expect(await engine.up(args)).toEqual({ then: "created" });
    expect(engine.kept!.id).toBe(id);
    expect(engine.outputs).toMatchObject({ name: "theirs", serviceType: "utility", state: "started" });
    newProcess();
    await engine.refresh();
    expect(await engine.up(args)).toEqual({ then: "same" });
    const { kept } = engine;
    await engine.destroy();
    engine.kept = kept!;
    expect(await shown()).toBeDefined();
    expect(writes()).toEqual([]);
  });

  test("a member's own service is adopted by its name alone, and changed in place", async () => {
    const at = await world("service");
    const { engine, net, shown, time } = at;
    const other = new Engine("service");
    await other.up({ ...bases.service(net), name: "other" });
    newProcess();
    time.pass(10_000);
    expect(await engine.up({ ...bases.service(net), adopt: true })).toEqual({ then: "created" });
    expect(engine.kept!.id).not.toBe(other.kept!.id);
    expect(await shown()).toMatchObject({ name: "files" });
  });
});
