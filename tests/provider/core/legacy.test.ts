import { readFileSync } from "node:fs";
import { join } from "node:path";
import { classOf } from "../../../provider/constants";
import { type Definition, type Props } from "../../../provider/core/definition";
import { diff } from "../../../provider/core/diff";
import { upgraded } from "../../../provider/core/legacy";
import { isRecorded, keptIn } from "../../../provider/core/state";
import { definitions } from "../../../provider/resources";

/* States of 0.2.0, as that version wrote them (tests/golden). With the real CLI: e2e/life/upgrade. */

interface Resource {
  type: string;
  id?: string;
  urn: string;
  inputs?: Props;
  outputs?: Props;
}

const definitionOf = ({ type }: Resource): Definition | undefined =>
  Object.values<Definition>(definitions).find((one) => one.type === classOf(type));

function resourcesOf(adapter: string): [string, Resource, Definition][] {
  const file = join(__dirname, "../../golden/0.2.0", adapter, "stack.json");
  // Two encryptions of one secret differ.
  const plain = readFileSync(file, "utf8").replace(/"ciphertext": "[^"]*"/g, '"ciphertext": "secret"');
  const { deployment } = JSON.parse(plain) as { deployment: { resources: Resource[] } };
  return deployment.resources.flatMap((one) => {
    const definition = one.outputs && definitionOf(one);
    return definition ? [[one.urn.split("::").at(-1)!, one, definition] as [string, Resource, Definition]] : [];
  });
}

describe.each(["dynamic", "plugin"])("%s", (adapter) => {
  const resources = resourcesOf(adapter);

  test("the golden state has every kind of resource", () =>
    expect(new Set(resources.map(([, , { type }]) => type)).size).toBe(Object.keys(definitions).length));

  test.each(resources)("%s: no change, and its organization is known", (_, { id, inputs, outputs }, definition) => {
    expect(isRecorded(outputs!)).toBe(true); // it is no import
    const state = upgraded(definition, outputs!, inputs);
    expect(Object.keys(state).filter((key) => /^__(left|fixed|organization|version|deployment)$/.test(key))).toEqual(
      [],
    );
    const before = outputs!.__organization as { organizations?: string[]; keys: string[] };
    expect(keptIn(state)).toMatchObject({ version: 2, keys: before.keys });
    const { changes, replaces } = diff(definition, id!, state, inputs!);
    expect({ changes, replaces }).toEqual({ changes: false, replaces: [] });
    expect(upgraded(definition, state, inputs)).toEqual(state);
  });

  test("the state of a newer version is not read as one of this", () =>
    expect(() => keptIn({ __kept: { version: 3 } })).toThrow(/newer version of pulumi-consortium/));

  test("what was adopted and is shared is known as such", () => {
    const shared = resources.filter(([, { outputs }]) => outputs!.__left !== undefined);
    expect(shared.length).toBeGreaterThan(0);
    for (const [, { inputs, outputs }, definition] of shared) {
      const isShared = definition.shared?.applies(outputs!) ?? false;
      expect(keptIn(upgraded(definition, outputs!, inputs)).how).toBe(isShared ? "shared" : "adopted");
    }
  });
});

test("a value that only a replacement could change counts as what was asked for", () => {
  const inputs = { consortiumId: "c", name: "a", provider: "quorum", consensusType: "raft", blockPeriod: 1 };
  const state: Props = { ...inputs, blockPeriod: 2, state: "live", __version: 1 };
  const now = upgraded(definitions.environment, state, inputs);
  expect(diff(definitions.environment, "e", now, inputs)).toMatchObject({ changes: false, replaces: [] });
});

test("what a service has only written differently since is no change of the program", () => {
  const base = { consortiumId: "c", environmentId: "e", membershipId: "m", service: "ipfs", name: "s", size: "small" };
  const asked = { ...base, details: { key: "x " } };
  const shown = { ...base, details: { key: "x" }, state: "started", urls: { a: "b" }, __version: 1 };
  const state = upgraded(definitions.service, shown, asked);
  expect(diff(definitions.service, "s1", state, asked)).toMatchObject({ changed: [], changes: false });
});
