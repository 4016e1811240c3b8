import { type Props } from "../../../provider/core/definition";
import { bases, type Based, compared, type Last, shared } from "./comparing";

/* What replaces an object, and what to read before an update is confirmed. */

describe("what replaces", () => {
  const accounts = { "0x52908400098527886E0F7030069857D2E4169EE7": { balance: "1" } };
  const adopted = { how: "adopted" } as const;
  test.each<[string, Based, Last, Props, string[], RegExp | undefined]>([
    ["a role that is taken out", "node", { asked: { role: "validator" } }, { role: undefined }, ["role"], undefined],
    [
      "no name that the service changes in place",
      "appCred",
      { parts: { refused: ["extra"] } },
      { name: "b" },
      [],
      undefined,
    ],
    ["nor another one's", "node", { parts: { refused: ["name"] } }, { name: "n2" }, [], undefined],
    [
      "a name that it refused to change",
      "appCred",
      { parts: { refused: ["name"] } },
      { name: "b" },
      ["name"],
      undefined,
    ],
    [
      "no other member's of what others share",
      "service",
      { parts: shared },
      { membershipId: "m2" },
      [],
      /membershipId stays as it is, because others may share it/,
    ],
    ["another type of it", "service", { parts: shared }, { service: "x" }, ["service"], undefined],
    ["another environment", "service", { parts: shared }, { environmentId: "e2" }, ["environmentId"], undefined],
    [
      "no details that are taken out of it",
      "service",
      { asked: { details: { a: 1 } }, parts: shared },
      { details: undefined },
      [],
      /details stays .*others may share it/,
    ],
    [
      "nor others, where it shows more",
      "service",
      { asked: { details: { a: 1 } }, answered: { details: { a: 1, b: 2 } }, parts: shared },
      { details: { a: 2 } },
      [],
      /details stays .*others may share it/,
    ],
    [
      "no lost member",
      "node",
      { asked: { membershipId: undefined } },
      { membershipId: "m2" },
      [],
      /membershipId stays .*the state has lost its value: run `pulumi refresh`/,
    ],
    ["another chain id of what was adopted", "environment", { parts: adopted }, { chainId: 8 }, ["chainId"], undefined],
    [
      "no accounts that are taken out",
      "environment",
      { asked: { prefundedAccounts: accounts } },
      { prefundedAccounts: undefined },
      [],
      /prefundedAccounts stays .*no longer sets it/,
    ],
    [
      "no accounts that it may have",
      "environment",
      { parts: adopted },
      { prefundedAccounts: accounts },
      [],
      /it was adopted, and the service does not show whether it has this/,
    ],
    [
      "other accounts than it got",
      "environment",
      { asked: { prefundedAccounts: accounts }, parts: adopted },
      { prefundedAccounts: { ...accounts, "0x0000000000000000000000000000000000000001": { balance: "1" } } },
      ["prefundedAccounts"],
      undefined,
    ],
    [
      "no features of which one with its own name is left, but that one",
      "environment",
      { asked: { testFeatures: { quick: true } } },
      { testFeatures: { multi_region: true } },
      ["multiRegion"],
      undefined,
    ],
    [
      "no regions that are taken out",
      "environment",
      { asked: { multiRegion: true } },
      { multiRegion: undefined },
      [],
      /multiRegion stays .*no longer sets it/,
    ],
    [
      "regions that are set to false",
      "environment",
      { asked: { multiRegion: true } },
      { multiRegion: false },
      ["multiRegion"],
      undefined,
    ],
  ])("%s (%s)", (_, kind, last, change, replaces, plan) => {
    const found = compared(kind, last, change);
    expect([found.replaces, found.plans]).toEqual([
      replaces,
      plan === undefined ? [] : [expect.stringMatching(plan) as string],
    ]);
  });

  test.each<[string, Based, Last, Props, boolean, RegExp[]]>([
    ["in the same place under the same name: the old one goes first", "node", {}, { role: "x" }, true, []],
    ["under another name", "node", {}, { role: "x", name: "n2" }, false, []],
    ["in another place", "node", {}, { environmentId: "e2", role: "x" }, false, []],
    ["under the name that somebody gave it", "node", { shown: { name: "x" } }, { role: "x", name: "x" }, true, []],
    ["under the name that the program gave it", "node", { shown: { name: "x" } }, { role: "x" }, true, []],
    ["beside what others name by its id", "configuration", {}, { type: "x" }, false, []],
    ["of that, under another name", "configuration", {}, { type: "x", name: "g2" }, false, []],
    ["of that, in another place", "configuration", {}, { environmentId: "e2" }, false, []],
    ["of a zone, in another region of its cloud", "environmentZone", {}, { region: "r2" }, false, []],
    ["of a zone, there", "environmentZone", {}, { type: "x" }, false, [/before the old one is deleted/]],
    [
      "of a service that is the only one",
      "service",
      { shown: { serviceType: "utility" } },
      { membershipId: "m2", name: "s2" },
      true,
      [],
    ],
    ["of that, in another place", "service", { shown: { serviceType: "utility" } }, { environmentId: "e2" }, false, []],
    [
      "of a ledger",
      "environment",
      {},
      { chainId: 8 },
      false,
      [/REPLACING AN ENVIRONMENT DESTROYS ITS LEDGER.* \(chainId\)$/],
    ],
  ])("%s (%s)", (_, kind, last, change, first, warnings) => {
    const found = compared(kind, last, change);
    expect(found).toMatchObject({ changes: true, deleteBeforeReplace: first, plans: [] });
    expect(found.warnings).toEqual(warnings.map((one) => expect.stringMatching(one) as string));
  });

  test("what adopts itself is not replaced; what is named by its name, or adopts another one, is", () => {
    expect(() => compared("node", {}, { role: "x", adopt: "id1" })).toThrow(
      /remove adopt .*The change replaces id1, and adopt: "id1"/,
    );
    expect(compared("node", {}, { role: "x", adopt: "id2" }).replaces).toEqual(["role"]);
    expect(compared("node", {}, { name: "n2", adopt: "id1" }).replaces).toEqual([]);
    expect(compared("destination", {}, { name: "id1", adopt: "id1" }).replaces).toEqual(["name"]);
  });
});

describe("what a preview says of an update", () => {
  const password = /^credential "a": gets a new password, because rotateWhenChanged changes/;
  const declined = { shown: { state: "Declined" } };
  const rotating = (to: unknown): Props => ({ rotateWhenChanged: to });
  test.each<[string, Based, Last, Props, RegExp[]]>([
    ["another size restarts", "node", {}, { size: "large" }, [/^node "n": restarts, to change size$/]],
    ["two restart", "node", {}, { size: "large", kmsId: "k" }, [/restarts, to change size and kmsId$/]],
    ["a chain id that is taken out", "environment", { asked: { chainId: 7 } }, { chainId: undefined }, []],
    ["another name does not", "node", {}, { name: "n2" }, []],
    [
      "a restart that is open",
      "node",
      { parts: { open: ["restart"] } },
      {},
      [/restarts, to change what the last run changed$/],
    ],
    ["another open step is none", "node", { parts: { open: ["ready"] } }, {}, []],
    [
      "what is sent again",
      "configuration",
      { parts: { unclear: ["details", "name"] } },
      {},
      [/sends details and name again, because the last change of that had no clear answer$/],
    ],
    ["a password that is asked for", "appCred", {}, rotating({ a: 1 }), [password]],
    [
      "or was, without a clear answer",
      "appCred",
      { asked: rotating({ a: 1 }), parts: { unclear: ["rotateWhenChanged"] } },
      {},
      [password],
    ],
    ["none where nothing changes", "appCred", { asked: rotating({ a: 1 }) }, {}, []],
    ["nor where it is taken out", "appCred", { asked: rotating({ a: 1 }) }, rotating(undefined), []],
    ["nor the first one, after an import", "appCred", { shown: { password: undefined } }, rotating({ a: 1 }), []],
    [
      "an invitation that is over",
      "invitation",
      declined,
      {},
      [/is Declined: nobody can accept it any more\. To replace it on purpose, run/],
    ],
    [
      "one that was adopted",
      "invitation",
      declined,
      { adopt: "id1" },
      [/To replace it on purpose, remove adopt, and run/],
    ],
    ["not one that is not", "invitation", {}, {}, []],
    [
      "what nobody can set back",
      "node",
      { asked: { role: "validator" }, shown: { role: "x" } },
      {},
      [/somebody changed role .* could have the old value again\. Nothing is replaced/],
    ],
    [
      "or back to nothing",
      "node",
      { asked: { zoneId: "z" }, shown: { zoneId: "y" }, parts: { asked: { ...bases.node.asked } } },
      {},
      [],
    ],
    [
      "and was not asked for",
      "environmentZone",
      { shown: { bridgeId: "b" } },
      {},
      [/somebody changed bridgeId .* could have the old value\. Nothing is replaced/],
    ],
  ])("%s (%s)", (_, kind, last, change, said) => {
    const { warnings, plans } = compared(kind, last, change);
    expect([...warnings, ...plans]).toEqual(said.map((one) => expect.stringMatching(one) as string));
  });
});
