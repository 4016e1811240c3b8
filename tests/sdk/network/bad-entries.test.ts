import * as fc from "fast-check";
import { good, inText, inData } from "./problems";
import { random } from "../../support/random";

describe("bad entries", () => {
  /** change of the good file → the problems */
  const wrong: [string, (text: string) => string, ...string[]][] = [
    ["a key twice", (text) => `${text}members: [x]\n`, '10:1: the key "members" appears twice'],
    [
      "an entry twice",
      (text) => text.replace("  globex:", "  acme: {}\n  globex:"),
      '4:3: the key "acme" appears twice',
    ],
    [
      "keys that are unknown",
      (text) => `${text.replace("orgName", "orgNme")}enviroments: {}\nsize: 1\n`,
      '4:13: members.globex.orgNme: a member has no "orgNme"; did you mean "orgName"?',
      '10:1: enviroments: a network has no "enviroments"; did you mean "environments"?',
      '11:1: size: a network has no "size"; there are name, formerly, adopt, limits, consortium, members, zones, invitations, environments, consortia',
    ],
    [
      "members that are unknown",
      (text) => `${text.replace("acme: 2", "acem: 2")}    credentials: { reports: { member: globax }, other: {} }\n`,
      '9:14: environments.prod.nodes.acem: there is no member "acem"; did you mean "acme"?',
      '10:39: environments.prod.credentials.reports.member: there is no member "globax"; did you mean "globex"?',
      '10:49: environments.prod.credentials.other: there is no member "other"; there are acme, globex',
    ],
    [
      "five nodes",
      (text) => text.replace("acme: 2", "acme: 4"),
      "9:5: environments.prod.nodes: an environment must have at most 4 nodes, but there are 5; if your organization allows more, raise limits.nodesPerEnvironment",
    ],
    [
      "a billion nodes",
      (text) => text.replace("acme: 2", "acme: 1000000000"),
      "9:20: environments.prod.nodes.acme: a count of nodes must be at most 1000",
    ],
    [
      "numbers where there are names",
      (text) =>
        text.replace("name: trade", "name: 42").replace("Globex Corp", "007").replace("[globex-main]", "[1, true]"),
      '1:7: name: a key must be text (42 is a number: write "42")',
      '4:22: members.globex.orgName: orgName is required: give it as text (007 is a number: write "007")',
      '9:32: environments.prod.nodes.globex[0]: a key must be text (1 is a number: write "1")',
      '9:35: environments.prod.nodes.globex[1]: a key must be text (true is a boolean: write "true")',
    ],
    [
      "numbers as keys, which are the text that they are written as",
      (text) => text.replace("  acme:", "  007: {}\n  true: {}\n  acme:").replace("acme: 2", "7: 1"),
      '11:14: environments.prod.nodes.7: there is no member "7"; there are 007, true, acme, globex',
    ],
    [
      "keys that JavaScript has itself",
      (text) => text.replace("  acme:", "  __proto__: { orgName: x }\n  constructor: {}\n  acme:"),
      '3:3: members.__proto__: "__proto__" cannot be a key: JavaScript uses that name itself. Choose another one',
      '4:3: members.constructor: "constructor" cannot be a key: JavaScript uses that name itself. Choose another one',
    ],
    [
      "a consensus of another client",
      (text) => text.replace("raft", "poa"),
      '8:20: environments.prod.consensusType: quorum runs raft or ibft, not poa: choose one of these, or provider: "geth". If the service has it, and it is meant, write "other:poa".',
    ],
    [
      "values that are no text",
      (text) => text.replace("raft", "7").replace("quorum", "[quorum]"),
      "7:15: environments.prod.provider: provider must be text, such as quorum, geth, pantheon, fabric, corda",
      "8:20: environments.prod.consensusType: consensusType must be text, such as raft, ibft, poa",
    ],
    [
      "what is missing",
      (text) => text.replace("    provider: quorum\n", ""),
      "6:3: environments.prod.provider: provider must be text, such as quorum, geth, pantheon, fabric, corda",
    ],
    [
      "an empty environment",
      (text) => text.replace(/(prod:)[^]*/, "$1\n"),
      "6:8: environments.prod: an environment must be a mapping of settings",
    ],
    [
      "names that are the same",
      (text) => text.replace("acme:\n", "acme: { orgName: Globex Corp }\n"),
      '4:3: members.globex: its name "Globex Corp" is also the name of "acme": names of members must be unique',
    ],
    [
      "nodes that are the same",
      (text) => text.replace("[globex-main]", "[acme-1]"),
      '9:32: environments.prod.nodes.globex[0]: "acme-1" appears twice: keys of nodes must be unique',
    ],
    [
      "a rename of what is still there",
      (text) => text.replace("acme:\n", "acme: { formerly: globex }\n"),
      '3:3: members.acme: formerly "globex": "globex" still exists',
    ],
    [
      "two renames of the same",
      (text) => text.replace("acme:\n", "acme: { formerly: old }\n").replace("{ org", "{ formerly: [older, old], org"),
      '4:3: members.globex: formerly "old": "acme" also claims it',
    ],
    [
      "a tether",
      (text) => `${text}    tether: { network: 7, intervalHours: 0.5, tetherId: 0123456789 }\n`,
      "10:24: environments.prod.tether.network: network must be text, such as mainnet, rinkeby, local",
      "10:42: environments.prod.tether.intervalHours: intervalHours must be a whole number of hours",
      '10:57: environments.prod.tether.tetherId: tetherId is missing: give tetherId, or consoleUrl: (the address of the tether service in the console) (0123456789 is a number: write "0123456789")',
    ],
    [
      "a tether without an id",
      (text) => `${text}    tether: { network: rinkeby, intervalHours: 1 }\n`,
      "10:5: environments.prod.tether: set tetherId, or consoleUrl, which ends in it",
    ],
    [
      "settings of an environment",
      (text) =>
        `${text}    releaseId: 2
    blockPeriod: 0
    prefundedAccounts: { acme: { balance: "1" }, "0x00000000000000000000000000000000000000aa": { balance: 5 } }
    multiRegion: "yes"
    testFeatures: [a]
`,
      '10:16: environments.prod.releaseId: releaseId must be text (2 is a number: write "2")',
      "11:18: environments.prod.blockPeriod: blockPeriod must be at least 1",
      "12:26: environments.prod.prefundedAccounts.acme: prefundedAccounts must be named by addresses: 40 hex digits, with or without 0x",
      '12:107: environments.prod.prefundedAccounts.0x00000000000000000000000000000000000000aa.balance: balance must be a whole number of wei, as text (5 is a number: write "5")',
      "13:18: environments.prod.multiRegion: multiRegion must be true or false",
      "14:19: environments.prod.testFeatures: testFeatures must be an object of features, or its JSON as text",
    ],
    [
      "settings of nodes",
      (text) =>
        `${text.replace("acme: 2", 'acme: { a: { size: 4, zoneID: z }, b: { kmsId: "" } }')}    nodeDefaults: { sise: small, role: [x], name: n }
`,
      '9:33: environments.prod.nodes.acme.a.size: size must be text (4 is a number: write "4")',
      '9:36: environments.prod.nodes.acme.a.zoneID: a node has no "zoneID"; did you mean "zoneId"?',
      "9:61: environments.prod.nodes.acme.b.kmsId: kmsId must not be empty",
      '10:21: environments.prod.nodeDefaults.sise: nodeDefaults has no "sise"; did you mean "size"?',
      "10:40: environments.prod.nodeDefaults.role: role must be text",
      '10:45: environments.prod.nodeDefaults.name: nodeDefaults has no "name"; there are role, size, zone, zoneId, kms, kmsId, opsmetric, opsmetricId, backup, backupId, networking, networkingId, and 5 more',
    ],
    [
      "an id that is only a name, adopted in two places",
      (text) =>
        `${text.replace("[globex-main]", "{ globex-main: { adopt: main } }")}  test:
    provider: geth
    consensusType: poa
    nodes: { globex: { main: { adopt: main } } }
`,
    ],
    [
      "names that are the same, of objects that are adopted by them",
      (text) =>
        text.replace("{ org", "{ adopt: true, org").replace("acme:\n", "acme: { orgName: Globex Corp, adopt: true }\n"),
      '4:3: members.globex: its name "Globex Corp" is also the name of "acme": names of members must be unique',
    ],
    [
      "names that are the same, of objects that are adopted by their ids",
      (text) =>
        text.replace("{ org", "{ adopt: m2, org").replace("acme:\n", "acme: { orgName: Globex Corp, adopt: m1 }\n"),
    ],
    [
      "an id that two adopt",
      (text) => text.replace("acme:\n", "acme: { adopt: m1 }\n").replace("{ org", "{ adopt: m1, org"),
      "4:3: members.globex: members.acme also has the adopted object m1",
    ],
    [
      "both forms",
      (text) => `${text}consortia: { a: {} }\n`,
      "2:1: members: with several consortia, members belongs in an entry of consortia",
      "5:1: environments: with several consortia, environments belongs in an entry of consortia",
    ],
    [
      "three consortia",
      () => "consortia: { a: {}, b: {}, c: {} }\n",
      "1:1: consortia: an organization must have at most 2 consortia, but there are 3; if your organization allows more, raise limits.consortiaPerOrganization",
    ],
  ];

  const beside = `    zones: { ohio: { region: us-east-2, cloud: aws } }
    configurations: { gas: { member: acme, type: node_config } }
    services: { docs: { member: acme, service: documentstore }, ids: { member: acme, service: idregistry } }
`;

  wrong.push(
    [
      "references that lead nowhere",
      (text) =>
        `${text.replace("[globex-main]", "{ main: { zone: oiho, nodeConfig: ohio } }")}    nodeDefaults: { kms: gass }\n` +
        beside.replace("documentstore", "documentstore, zone: gas, destinations: { in: { idRegistry: docs } }"),
      '9:47: environments.prod.nodes.globex.main.zone: there is no zone "oiho" in this environment; did you mean "ohio"?',
      '9:65: environments.prod.nodes.globex.main.nodeConfig: there is no configuration "ohio" in this environment; there is only gas',
      '10:26: environments.prod.nodeDefaults.kms: there is no configuration "gass" in this environment; did you mean "gas"?',
      '13:69: environments.prod.services.docs.zone: there is no zone "gas" in this environment; there is only ohio',
      '13:108: environments.prod.services.docs.destinations.in.idRegistry: there is no idregistry "docs" in this environment; there is only ids',
    ],
    [
      "references beside ids",
      (text) =>
        `${text.replace("[globex-main]", "{ main: { zone: ohio, zoneId: z1 } }")}    nodeDefaults: { kmsId: k, kms: gas }\n${beside}`,
      "9:41: environments.prod.nodes.globex.main.zone: set zone or zoneId, not both",
      "10:31: environments.prod.nodeDefaults.kms: set kms or kmsId, not both",
    ],
    [
      "references without anything to name",
      (text) => `${text}    nodeDefaults: { zone: ohio }\n`,
      '10:27: environments.prod.nodeDefaults.zone: there is no zone "ohio" in this environment',
    ],
    [
      "members of configurations and services",
      (text) =>
        text +
        beside
          .replace("member: acme, type", "member: acem, type")
          .replace("member: acme, service: doc", "service: doc"),
      '11:38: environments.prod.configurations.gas.member: there is no member "acem"; did you mean "acme"?',
      "12:17: environments.prod.services.docs.member: member is required: give the key of a member",
    ],
    [
      "a zone twice",
      (text) =>
        `${text}${beside.replace("aws }", "aws }, o2: { region: us-east-2, cloud: aws }")}zones: { a: { region: r, cloud: aws }, b: { region: r } }\n`,
      '10:55: environments.prod.zones.o2: it is the same zone as "ohio": us-east-2 of aws',
      '13:40: zones.b.cloud: cloud is required: give it as text, such as "aws"',
    ],
    [
      "names that are the same beside the ledger",
      (text) =>
        text +
        beside
          .replace("documentstore", "documentstore, name: ids, destinations: [in, in]")
          .replace("node_config }", "node_config }, more: { member: globex, type: kms, name: gas, formerly: gas }"),
      '11:65: environments.prod.configurations.more: its name "gas" is also the name of "gas": names of configurations must be unique',
      '11:65: environments.prod.configurations.more: formerly "gas": "gas" still exists',
      '12:93: environments.prod.services.docs.destinations[1]: "in" appears twice: keys of destinations must be unique',
      '12:100: environments.prod.services.ids: its name "ids" is also the name of "docs": names of services must be unique',
    ],
    [
      "invitations",
      (text) => `${text}invitations: { a: ops, b: { orgName: B }, c: { email: c@x, orgName: D }, D: d@x, e: 5 }\n`,
      "10:19: invitations.a: email must be an address, such as ops@example.com",
      "10:24: invitations.b.email: email is required: give the address as text",
      '10:74: invitations.D: its name "D" is also the name of "c": names of invitations must be unique',
      "10:85: invitations.e: an invitation must be an e-mail address, or a mapping of settings",
    ],
    [
      "a variable with a name that none can have",
      (text) => text + beside.replace("node_config", "node_config, details: { a: [{ env: VAULT-TOKEN }] }"),
      "11:78: environments.prod.configurations.gas.details.a[0]: env must be the name of an environment variable: letters, digits and _",
    ],
    [
      "a variable that is not set",
      (text) => text + beside.replace("node_config", "node_config, details: { a: [{ env: CONSORTIUM_TEST_UNSET }] }"),
      "11:78: environments.prod.configurations.gas.details.a[0]: the environment variable CONSORTIUM_TEST_UNSET is not set",
    ],
  );

  test.each(wrong)("%s", (_, change, ...problems) => {
    expect(inText(change(good))).toEqual(problems.map((problem) => `network.yaml:${problem}`));
  });

  test("a fourth environment", () => {
    const kind = "{ provider: geth, consensusType: poa }";
    expect(inText(`members: []\nenvironments: { a: ${kind}, b: ${kind}, c: ${kind}, d: ${kind} }\n`)).toEqual([
      expect.stringMatching(
        /^network.yaml:2:1: environments: a consortium must have at most 3 environments, but there are 4;/,
      ),
    ]);
  });

  test("limits can be raised, and count then", () => {
    const raised = `${good.replace("acme: 2", "acme: 5")}limits: { nodesPerEnvironment: 6 }\n`;
    expect(inText(raised)).toEqual([]);
    expect(inText(raised.replace("acme: 5", "acme: 6"))).toEqual([
      "network.yaml:9:5: environments.prod.nodes: an environment must have at most 6 nodes, but there are 7; if your organization allows more, raise limits.nodesPerEnvironment",
    ]);
  });

  test("a key for people is refused, and the error says where such a name belongs", () => {
    expect(inText("members: { 'Globex Corp': {} }\n")).toEqual([
      expect.stringMatching(
        /^network.yaml:1:12: members.Globex Corp: a key must have .*; set other names with name, or orgName of a member$/,
      ),
    ]);
  });
});

describe("whatever a file contains", () => {
  /** Whatever a file contains, it is valid, or its errors have a line. Nothing else is ever thrown. */

  const snippet = fc.oneof(
    fc.constantFrom("*a", "&a ", "<<: *a\n", "!x ", "[", "{", "- ", "? ", ": ", "\n", "\t", "|\n"),
    fc.constantFrom("---\n", "...\n", "%YAML 1.1\n---\n", "null", "12", ".nan", "__proto__: 1\n", "acme: ", "''"),
    fc.string({ unit: "binary", maxLength: 5 }),
  );
  const edit = fc.record({ at: fc.nat(good.length), cut: fc.nat(12), put: snippet });

  test("edited files", () => {
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 4 }), (edits) => {
        const text = edits.reduce(
          (before, { at, cut, put }) => before.slice(0, at) + put + before.slice(at + cut),
          good,
        );
        for (const line of inText(text)) expect(line).toMatch(/^(network\.yaml:\d+:\d+: |and \d+ more)/);
      }),
      random(300),
    );
  });

  test("any data", () => {
    const entry = fc.dictionary(
      fc.constantFrom("name", "nodes", "provider", "acme", "member", "formerly", "tether", "x"),
      fc.jsonValue(),
    );
    const keys = ["name", "members", "environments", "consortia", "consortium", "limits", "adopt", "formerly"];
    const definition = fc.dictionary(
      fc.constantFrom(...keys),
      fc.oneof(fc.jsonValue(), fc.dictionary(fc.string(), fc.oneof(entry, fc.jsonValue()))),
    );
    fc.assert(
      fc.property(definition, (given) => {
        for (const line of inData(given)) expect(line).not.toBe("");
      }),
      random(300),
    );
  });
});
