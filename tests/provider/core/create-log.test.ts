import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../provider/api/clock";
import { markInterrupted, markNew, readCreateLog } from "../../../provider/core/create-log";
import { bases, collectionOf } from "../../support/bases";
import { Engine, errorOf, failed, type Kind, type Outcome, type Props } from "../../support/engine";
import { world } from "../../support/lifecycle";
import { send } from "../../support/network";
import { newProcess, setEnvironment } from "../../support/service";

/* A killed run leaves proof of the objects that it created; the next run takes nothing else. */

const kinds = ["consortium", "membership", "environment", "node"] as const;

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "consortium-creates-"));
  file = join(folder, "acme-test.jsonl");
});

/** A run that was killed after the service had created the object: before its answer came, or after. */
async function killed(kind: (typeof kinds)[number], { answered }: { answered: boolean }) {
  const here = await world(kind);
  const args: Props = bases[kind](here.net);
  newProcess({ CONSORTIUM_FLEET_CREATES: file });
  expect(await here.engine.up(args)).toEqual({ then: "created" });
  if (!answered) loseAnswers();
  /** The next run of the stack. Its state has none of the new objects. */
  const again = async (change: Props = {}): Promise<Outcome & { id?: string }> => {
    newProcess();
    const engine = new Engine(kind);
    const outcome = await engine.up({ ...args, ...change });
    return { ...outcome, ...(engine.kept && { id: engine.kept.id }) };
  };
  return { ...here, args, id: here.engine.kept!.id, again };
}

function loseAnswers(): void {
  const lines = readFileSync(file, "utf8").split("\n");
  writeFileSync(file, lines.filter((line) => !line.startsWith('{"made"')).join("\n"));
}

/** Somebody else's run, with or without a file of its own. */
async function elsewhere(kind: Kind, args: Props, own?: string): Promise<string> {
  newProcess({ CONSORTIUM_FLEET_CREATES: own });
  const engine = new Engine(kind);
  expect(await engine.up(args)).toEqual({ then: "created" });
  setEnvironment({ CONSORTIUM_FLEET_CREATES: file });
  return engine.kept!.id;
}

test("an object from before the killed run is not its own, even if its list did not show it", async () => {
  const { again, id, service } = await killed("consortium", { answered: false });
  service.store.consortia.patch(id, { created_at: "2020-01-01T00:00:00.000Z" });
  markInterrupted(file, []);
  expect(await again()).toEqual(failed(new RegExp(`of ${id}, it was created at 2020.*It was left as it is`)));
});

test("in a fleet, no run adopts everything: the error does not advise it", async () => {
  const { again, id } = await killed("consortium", { answered: true });
  const error = errorOf(await again());
  expect(error).toContain(`adopt: "${id}"`);
  expect(error).not.toContain("CONSORTIUM_ADOPT");
});

test("a run that made its stack waits for no states; one that continues it does", async () => {
  const waits = jest.spyOn(systemClock, "sleep");
  const isWaiting = () => waits.mock.calls.splice(0).some(([ms]) => ms === 300);
  markNew(file);
  const { again } = await killed("consortium", { answered: true });
  expect(isWaiting()).toBe(false);
  markInterrupted(file, []);
  expect(await again()).toMatchObject({ then: "created" });
  expect(isWaiting()).toBe(true);
});

describe.each(kinds)("%s", (kind) => {
  test.each([true, false])("is continued with by its id (answered: %s), and made once", async (answered) => {
    const { again, id, count } = await killed(kind, { answered });
    markInterrupted(file, []);
    expect(await again()).toEqual({ then: "created", id });
    expect(await count()).toBe(1);
  });

  test("that another run of the stack finished is taken already", async () => {
    const { again, id } = await killed(kind, { answered: true });
    expect(await again()).toEqual(failed(`already taken by ${id}`));
  });

  test("from before the killed run is not its own", async () => {
    const here = await world(kind);
    const args: Props = bases[kind](here.net);
    const live = await elsewhere(kind, args);
    newProcess();
    const own = new Engine(kind);
    const refused = failed(`already taken by ${live}`);
    expect(await own.up(args)).toEqual(refused);
    markInterrupted(file, []);
    newProcess();
    expect(await own.up(args)).toEqual(refused);
  });
});

const doubts: [string, string | undefined, (id: string) => string[], RegExp][] = [
  ["a state holds it", undefined, (id) => [`/consortia/${id}`], /a stack holds .* already/],
  ["another stack of the fleet made it", "acme-prod.jsonl", () => [], /the stack acme-prod created/],
];

test.each(doubts)("an object that appeared since is left and named if %s", async (_, own, held, reason) => {
  const { again, id, args, at, engine, service } = await killed("consortium", { answered: false });
  await send(service, "DELETE", at()); // nothing came of what the killed run sent
  engine.kept = undefined;
  const live = await elsewhere("consortium", args, own && join(folder, own));
  expect(live).not.toBe(id);
  markInterrupted(file, held(live));
  const outcome = await again();
  expect(outcome).toEqual(failed(reason));
  expect(errorOf(outcome)).toContain(`adopt: "${live}"`);
});

test("if there are more than the killed run can have made, none is taken", async () => {
  const { again, id, net, service } = await killed("node", { answered: false });
  const where = `/consortia/${net.consortiumId}/environments/${net.environmentId}/nodes`;
  const body = { name: "another", membership_id: net.membershipId };
  const { _id: other } = await send(service, "POST", where, body);
  service.store.nodes.patch(other, { name: "n1" });
  markInterrupted(file, []);
  expect(await again()).toEqual(
    failed(new RegExp(`${id}, ${other} has its name.*there are more than that run can have created.*left as it is`)),
  );
});

test("an object that a state already held when the killed run was continued stays with its resource", async () => {
  const { again, id } = await killed("consortium", { answered: true });
  markInterrupted(file, [`/consortia/${id}`]);
  expect(await again()).toEqual(failed(`already taken by ${id}`));
});

test("an object that differs from the program is left and named", async () => {
  const { again, id } = await killed("consortium", { answered: false });
  markInterrupted(file, []);
  const why = new RegExp(`of ${id}, its description is .*It was left as it is`);
  expect(await again({ description: "another" })).toEqual(failed(why));
});

test("if another stack was creating one with the same name, its owner is unknown", async () => {
  const { again } = await killed("consortium", { answered: false });
  writeFileSync(join(folder, "acme-prod.jsonl"), readFileSync(file));
  markInterrupted(file, []);
  expect(await again()).toEqual(failed("the stack acme-prod was also creating one of this name"));
});

test("a create with the same name in another organization does not count", async () => {
  const { again, id } = await killed("consortium", { answered: false });
  writeFileSync(join(folder, "globex.jsonl"), readFileSync(file, "utf8").replace(/"key":"\w+:\w/, '"key":"other:0'));
  markInterrupted(file, []);
  expect(await again()).toEqual({ then: "created", id });
});

test("a create with the key of another organization proves nothing for this one", async () => {
  const { again, service } = await killed("consortium", { answered: false });
  markInterrupted(file, []);
  writeFileSync(file, readFileSync(file, "utf8").replace(/"key":"\w+:\w/, '"key":"other:0'));
  expect(await again()).toEqual(failed("already taken"));
  expect(service.store.consortia.list().length).toBeGreaterThan(0);
});

test("if it created nothing, the next run creates the object after the longest time that a request may take", async () => {
  const { again, id, at, service, said } = await killed("consortium", { answered: false });
  await send(service, "DELETE", at());
  markInterrupted(file, []);
  const outcome = await again();
  expect(outcome).toMatchObject({ then: "created" });
  expect(outcome.id).not.toBe(id);
  expect(said.join("\n")).toContain("looking for what a killed run of this stack may have created");
});

test.each([
  ["refused, nothing comes of it: one of its name is somebody else's", 400, failed("already taken")],
  ["unclear, it may still be carried out: one of its name is its own", 500, { then: "created" }],
])("after a create with an answer that is %s", async (_, status, outcome) => {
  const { engine, service, net } = await world("node");
  const args = bases.node(net);
  newProcess({ CONSORTIUM_FLEET_CREATES: file });
  service.faults.add({ kind: "status", status, errorMessage: "no", method: "POST", times: Infinity });
  expect(await engine.up(args)).toEqual(failed(`HTTP ${status}`));
  service.faults.clear();
  const { _id: late } = await send(service, "POST", collectionOf("node", net), {
    name: args.name,
    membership_id: net.membershipId,
  });
  markInterrupted(file, []);
  newProcess();
  expect(await engine.up(args)).toEqual(outcome);
  expect(engine.kept?.id).toBe(status === 500 ? late : undefined);
});

test("a create that was not sent does not count, nor a line that a power cut left incomplete", async () => {
  const { again, args } = await killed("consortium", { answered: true });
  await again({ name: args.name as string }); // taken: it is not sent
  writeFileSync(file, `${readFileSync(file, "utf8")}{"begun":{"att`);
  const { current } = readCreateLog(file);
  expect(current).toHaveLength(1);
  expect(current[0]!.id).toBeDefined();
});
