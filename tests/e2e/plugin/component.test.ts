import { send } from "../../support/network";
import { failed, onNewest } from "../support/stack";
import { canaryKey, type World, world } from "../support/world";

/** Secrets at any depth. (What is refused: tests/plugin/components.test.ts, tests/sdk/network/bad-entries.test.ts.) */
const program = `
config:
  word: { type: string, secret: true }
resources:
  trade:
    type: consortium:Network
    properties:
      consortium:
        description: "\${word}"
        extra: { a: { b: ["\${word}"] } }
      members:
        acme: { extra: { label: "\${word}" } }
        globex: {}
      environments:
        e:
          provider: quorum
          consensusType: raft
          description: "\${word}"
          chainId: { fn::secret: 4242424242 }
          nodes: { acme: 1, globex: { globex-1: { extra: { zone: "\${word}" } } } }
          credentials: { acme: { keepers: { year: { of: "\${word}" } } } }
          zones: { ohio: { region: us-east-2, cloud: aws } }
          configurations:
            gas: { member: acme, type: node_config, details: { gas_price: { fn::secret: hush-hush }, token: { env: TEST_TOKEN } } }
          nodeDefaults: { zone: ohio, nodeConfig: gas }
          services: { files: { member: acme, service: ipfs, zone: ohio } }
outputs:
  rpc: \${trade.consortia["trade"].environments["e"].nodes["acme-1"].urls.rpc}
  chain: \${trade.consortia["trade"].environments["e"].chainId}
  files: \${trade.consortia["trade"].environments["e"].services["files"].urls}
  password: \${trade.passwords["trade"]["e"]["acme"]}
  nodes:
    fn::invoke:
      function: consortium:getNodes
      arguments:
        consortiumId: \${trade.consortia["trade"].id}
        environmentId: \${trade.consortia["trade"].environments["e"].id}
      return: nodes
`;

let w: World;
beforeAll(async () => {
  const given = { env: { TEST_TOKEN: "quite-quiet" }, secrets: { word: "canary-word-1" } };
  w = await world(program, { language: "yaml", plugin: true, ...given });
});

/** No secret is in what was printed, or in the state. */
async function clean(text: string): Promise<void> {
  const all = text + (await w.stack.exported());
  for (const secret of ["canary-word", "4242424242", canaryKey, "hush-hush", "quite-quiet"])
    expect(all).not.toContain(secret);
}

test("a network in YAML: one component, and the plugin registers its parts", async () => {
  const { text } = await w.stack.ok(["preview", "--diff"]);
  await clean(text);
  for (const open of [/name +: "trade"/, /consensusType +: "raft"/, /orgName +: "acme"/]) expect(text).toMatch(open);
  const up = await w.stack.up({}, "--diff");
  expect(up).toMatchObject({ code: 0 });
  expect(up.text).toContain("+ 12 created");
  await clean(up.text);
  expect((await w.network()).consortia).toMatchObject([{ description: "canary-word-1" }]);
  const { rpc, files, password, nodes } = await w.stack.outputs();
  expect(rpc).toMatch(/^http:/);
  expect((nodes as { name: string }[]).map(({ name }) => name).sort()).toEqual(["acme-1", "globex-1"]);
  expect(Object.values(files as object)).toEqual([expect.stringMatching(/^http/)]);
  expect(password).toEqual(expect.any(String));
  expect((await w.stack.exported()) + up.text).not.toContain(String(password));
  const { path } = w.service.calls.find(({ method, path }) => method === "POST" && path.endsWith("/configurations"))!;
  expect(await send(w.service, "GET", path.replace(/^.*(?=\/consortia\/)/, ""))).toMatchObject([
    { details: { gas_price: "hush-hush", token: "quite-quiet" } },
  ]);
  for (const again of [await w.stack.preview(), await w.stack.refresh()])
    expect(again).toMatchObject({ code: 0, text: expect.stringContaining("12 unchanged") as string });
  w.stack.secrets({ word: "canary-word-2" });
  await clean((await w.stack.ok(["preview", "--diff"])).text);
  w.stack.secrets({ word: "canary-word-1" });
});

test("after an error in it, its own line says where to look, if Pulumi shows that line, and no secret", async () => {
  w.stack.program(program.replace("globex-1: {", 'globex-2: { extra: { zone: "${word}" } }, globex-1: {'));
  const route = "/consortia/:consortiumId/environments/:environmentId/nodes";
  const errorMessage = "no canary-word-1 here";
  const fault = w.service.faults.add({ method: "POST", route, kind: "status", status: 422, errorMessage });
  const text = await failed(w.stack.up());
  fault.remove();
  await clean(text);
  const diagnostics = text.slice(text.indexOf("Diagnostics:"));
  const [first, ...others] = diagnostics.match(/error: .*/g)!.sort();
  expect(first).toMatch(/nodes: HTTP 422: no \[secret\] here/);
  const own = "error: consortium:index:Network resource 'trade' has a problem: it is not complete, ";
  expect(others).toEqual([...(onNewest ? [] : [expect.stringContaining(own) as string]), "error: update failed"]);
  expect(await w.stack.up()).toMatchObject({ code: 0, text: expect.stringContaining("+ 1 created") as string });
});
