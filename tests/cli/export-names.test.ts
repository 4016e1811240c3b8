import * as fc from "fast-check";
import { yamlOf } from "../../cli/export";
import { definitionOf } from "../../cli/export/definition";
import { readFile } from "../../sdk/network/load";
import { planned as planOf } from "../../sdk/network/network";
import { written } from "../sdk/network/problems";
import { random } from "../support/random";
import { found, strangeNames } from "./found";

/** Unusual names: the exported file preserves them, and each object can be adopted. */

const name = fc.oneof(
  fc.string({ unit: "binary", maxLength: 30 }),
  fc.constantFrom(...strangeNames.filter((one) => one.length <= 256 && Buffer.from(one).toString() === one)),
);
const items = fc.array(name, { minLength: 1, maxLength: 6 });
const isUsual = (text: string): boolean => text.trim() !== "";

test("names, keys and ids are preserved, and the file is valid", () => {
  fc.assert(
    fc.property(items, items, name, (organizations, nodes, title) => {
      const members = organizations.map((orgName, index) => found("membership", `m${index}`, { orgName }));
      const kind = { name: title, provider: "quorum", consensusType: "raft", description: title };
      const there = found("consortium", "c0", { name: title, description: title }, [
        ...members,
        found("environment", "e0", kind, [
          ...nodes.map((one, at) => found("node", `n${at}`, { name: one, membershipId: `m${at % members.length}` })),
          found("appCred", title, {}),
        ]),
      ]);
      const text = yamlOf(definitionOf(there, { adopt: true }), { adopt: true });
      const [consortium] = planOf("trade", readFile(written(text)), undefined).consortia;
      const kept = new Map(consortium!.members.map(({ args }) => [args.adopt, args.orgName])); // keys that are numbers come first
      expect([...kept.keys()].sort()).toEqual(members.map(({ id }) => id));
      const planned = consortium!.environments.flatMap((one) => one.nodes);
      const byId = new Map(planned.map(({ args }) => [args.adopt, args.name]));
      for (const [index, one] of nodes.entries()) if (isUsual(one)) expect(byId.get(`n${index}`)).toBe(one);
      for (const [index, one] of organizations.entries()) if (isUsual(one)) expect(kept.get(`m${index}`)).toBe(one);
      if (isUsual(title)) expect(consortium!.args).toMatchObject({ name: title, description: title, adopt: "c0" });
    }),
    random(100),
  );
});

describe("names that differ only in Unicode composition count as the same", () => {
  const [composed, apart] = ["Café".normalize("NFC"), "Café".normalize("NFD")];
  const there = found("consortium", "c0", { name: "trade" }, [
    ...[composed, apart].map((orgName, at) => found("membership", `m${at}`, { orgName })),
    found("environment", "e0", { name: "prod", provider: "quorum", consensusType: "raft" }, [
      ...[composed, apart].map((name, at) => found("node", `n${at}`, { name, membershipId: "m0" })),
    ]),
  ]);
  const names = (adopt: boolean) => {
    const text = yamlOf(definitionOf(there, { adopt }), { adopt });
    const [{ members, environments }] = planOf("trade", readFile(written(text)), undefined).consortia as [
      ReturnType<typeof planOf>["consortia"][number],
    ];
    const nodes = environments.flatMap((one) => one.nodes);
    return { text, members: members.map(({ args }) => args.orgName), nodes: nodes.map(({ args }) => args.name) };
  };

  test("in a copy, the first one keeps the name, and the other is named by its key", () => {
    const { text, members, nodes } = names(false);
    expect({ members, nodes }).toEqual({ members: [composed, "Cafe-m1"], nodes: [composed, "Cafe-n1"] });
    expect(text).toContain("`up` names this one Cafe-m1");
  });

  test("adopted objects keep their names", () => {
    expect(names(true)).toMatchObject({ members: [composed, apart], nodes: [composed, apart] });
  });
});
