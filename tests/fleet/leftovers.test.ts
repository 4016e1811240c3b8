import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { continueFrom, createLogOf, removeCreateLog, leftoversOf } from "../../fleet/leftovers";
import { pathsIn, Pulumi, Stop } from "../../fleet/pulumi";
import { ConsortiumClient, resolveSettings } from "../../provider/api";
import { readCreateLog } from "../../provider/core/create-log";
import { send } from "../support/network";
import { start, type Started } from "../support/service";
import { StubPulumi } from "./stub-pulumi";

/* What a killed run created and no state holds: named by its path, and nothing else is. */

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "consortium-leftovers-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const lines = (...all: object[]): string => all.map((line) => `${JSON.stringify(line)}\n`).join("");
const begun = (attempt: string, path: string, name?: string, before: string[] = []) => ({
  begun: { attempt, path, name, before, key: "salt:key", at: 0 },
});
const made = (attempt: string, id: string) => ({ made: attempt, id });

/** The log of a killed run, which the next one continues; `held` are in the states of stacks. */
function killed(held: string[], ...written: object[]): string {
  const file = createLogOf(folder, "acme-test");
  writeFileSync(file, lines(...written, { continued: { held } }));
  return file;
}

async function consortium({ service }: Started, name: string): Promise<string> {
  return (await send(service, "POST", "/consortia", { name }))._id;
}

test("what the service answered is certain; what has the name of a create without an answer is doubtful", async () => {
  const started = await start({ limits: { consortia: 5 } });
  const [ours, maybe, old] = [
    await consortium(started, "ours"),
    await consortium(started, "maybe"),
    await consortium(started, "old"),
  ];
  const member = (await send(started.service, "POST", `/consortia/${ours}/memberships`, { org_name: "acme" }))._id;
  const memberships = `/consortia/${ours}/memberships`;
  const file = killed(
    [],
    ...[begun("1", "/consortia", "ours"), made("1", ours)],
    begun("2", "/consortia", "maybe"),
    begun("3", "/consortia", "old", [old]), // it was there before
    begun("4", memberships, "acme"),
    ...[begun("5", "/consortia", "gone"), made("5", "c-gone")],
    begun("6", "/consortia"), // a credential, say: nothing tells it from others
  );
  const client = new ConsortiumClient(resolveSettings());
  expect(await leftoversOf(file, [], client)).toEqual({
    certain: [`/consortia/${ours} ("ours")`],
    doubtful: [`/consortia/${maybe} ("maybe")`, `${memberships}/${member} ("acme")`],
  });
  expect(await leftoversOf(file, [`/consortia/${ours}`, `${memberships}/${member}`], client)).toEqual({
    certain: [],
    doubtful: [`/consortia/${maybe} ("maybe")`],
  });
  const holding = killed([`/consortia/${maybe}`], begun("2", "/consortia", "maybe"));
  expect(await leftoversOf(holding, [], client)).toEqual({ certain: [], doubtful: [] });
  await client.close();
});

test("a list that went with what it was in holds nothing; one that fails is no answer", async () => {
  const { service } = await start();
  const file = killed([], begun("1", "/consortia/c-gone/memberships", "acme"));
  const client = new ConsortiumClient(resolveSettings());
  expect(await leftoversOf(file, [], client)).toEqual({ certain: [], doubtful: [] });
  service.faults.add({ kind: "status", status: 400, errorMessage: "no", method: "GET", times: 1000 });
  await expect(leftoversOf(file, [], client)).rejects.toThrow(/HTTP 400/);
  await client.close();
});

test("states of other stacks are read only where a create has no answer", async () => {
  const file = createLogOf(folder, "acme-test");
  const others = jest.fn(() => Promise.resolve(["theirs"]));
  const states = { own: () => Promise.resolve(["own"]), others };
  await continueFrom(file, states);
  expect(existsSync(file)).toBe(false); // it was killed before it created anything

  writeFileSync(file, lines(begun("1", "/consortia", "a"), made("1", "c1")));
  await continueFrom(file, states);
  expect([[...readCreateLog(file).held], others.mock.calls]).toEqual([["own"], []]);

  writeFileSync(file, lines(begun("1", "/consortia", "a")));
  await continueFrom(file, states);
  expect([...readCreateLog(file).held]).toEqual(["own", "theirs"]);

  removeCreateLog(file);
  expect(existsSync(file)).toBe(false);
});

test("the paths of what is in a state, read by several at once; a stack that does not exist has none", async () => {
  const pulumi = new StubPulumi(join(folder, "stub"));
  pulumi.stacks = { "fleet/acme-test": { tags: {}, networks: ["trade"], ids: ["c1", "m1"] } };
  writeFileSync(join(folder, "Pulumi.yaml"), "name: fleet\n");
  const place = { cwd: folder, env: pulumi.env };
  const workspace = await (await Pulumi.find(new Stop(), place)).workspace(place);
  const all = await Promise.all(Array.from({ length: 6 }, () => pathsIn("acme-test", workspace)));
  expect(all).toEqual(all.map(() => ["/consortia/c1", "/consortia/m1"]));
  expect(await pathsIn("acme-other", workspace)).toEqual([]);
});
