import { parse, stringify } from "yaml";
import { examples } from "../../docs/markdown";
import { send } from "../../support/network";
import { failed, onNewest } from "../support/stack";
import { canaryKey, type World, world, writesOf } from "../support/world";

const program = (definition: string): string => `
resources:
  trade:
    type: consortium:Network
    properties:
      members: [acme, globex]
      environments:
        e:
          provider: quorum
          consensusType: raft
          nodes: { acme: 1, globex: 1 }
          credentials: [acme]
          zones: { ohio: { region: us-east-2, cloud: aws } }
          configurations:
            gas: { member: acme, type: node_config, details: { gas_price: { fn::secret: hush-hush }, token: { env: TEST_TOKEN } } }
          nodeDefaults: { zone: ohio, nodeConfig: gas }
          services: { files: { member: acme, service: ipfs, zone: ohio } }
          ${definition}
outputs:
  rpc: \${trade.consortia["trade"].environments["e"].nodes["acme-1"].urls.rpc}
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
  w = await world(program(""), { language: "yaml", plugin: true, env: { TEST_TOKEN: "quite-quiet" } });
});

test("the program of the reference makes a network", async () => {
  const { text } = examples("yaml").find(
    ({ where, text }) => where.startsWith("docs/reference/network.md") && text.includes("runtime:"),
  )!;
  const { resources } = parse(text) as { resources: object };
  w.stack.program(stringify({ resources }));
  expect(await w.stack.preview()).toMatchObject({ code: 0, text: expect.stringContaining("+ 12 to create") as string });
  w.stack.program(program(""));
});

test("a network in YAML: one component, and the plugin registers its parts", async () => {
  const up = await w.stack.up();
  expect(up).toMatchObject({ code: 0 });
  expect(up.text).toContain("+ 12 created");
  const { rpc, files, password, nodes } = await w.stack.outputs();
  expect(rpc).toMatch(/^http:/);
  expect((nodes as { name: string }[]).map(({ name }) => name).sort()).toEqual(["acme-1", "globex-1"]);
  expect(Object.values(files as object)).toEqual([expect.stringMatching(/^http/)]);
  const exported = await w.stack.exported();
  expect(password).toEqual(expect.any(String));
  for (const secret of [String(password), canaryKey, "hush-hush", "quite-quiet"])
    expect(exported + up.text).not.toContain(secret);
  const { path } = w.service.calls.find(({ method, path }) => method === "POST" && path.endsWith("/configurations"))!;
  expect(await send(w.service, "GET", path.replace(/^.*(?=\/consortia\/)/, ""))).toMatchObject([
    { details: { gas_price: "hush-hush", token: "quite-quiet" } },
  ]);
  for (const again of [await w.stack.preview(), await w.stack.refresh()])
    expect(again).toMatchObject({ code: 0, text: expect.stringContaining("12 unchanged") as string });
});

test("all problems of its definition are reported at preview, at once, without a call", async () => {
  w.service.clearCalls();
  w.stack.program(program("blockPeriod: -1\n          nodez: 3"));
  expect(await failed(w.stack.preview())).toContain("nodez");
  expect(writesOf(w.service)).toEqual([]);
});

test("a value that is not known yet is refused, not waited for", async () => {
  w.stack.program(
    program("description: ${other.id}").replace(
      "resources:",
      "resources:\n  other: { type: consortium:Consortium, properties: { name: other } }",
    ),
  );
  expect(await failed(w.stack.preview())).toMatch(
    /trade: write environments as a plain value\. .*\[invalid-argument: /,
  );
});

test("after an error in it, its own line says where to look, if Pulumi shows that line", async () => {
  w.stack.program(program("").replace("nodes: { acme: 1", "nodes: { acme: 2"));
  const route = "/consortia/:consortiumId/environments/:environmentId/nodes";
  const fault = w.service.faults.add({ method: "POST", route, kind: "status", status: 400, errorMessage: "not today" });
  const text = await failed(w.stack.up());
  fault.remove();
  const diagnostics = text.slice(text.indexOf("Diagnostics:"));
  expect(diagnostics.match(/error: .*/g)!.sort()).toEqual([
    expect.stringMatching(/nodes: HTTP 400: not today/) as string,
    ...(onNewest
      ? []
      : [
          "error: consortium:index:Network resource 'trade' has a problem: it is not complete, because the run ended early: the other errors say why.",
        ]),
    "error: update failed",
  ]);
  expect(await w.stack.up()).toMatchObject({ code: 0, text: expect.stringContaining("+ 1 created") as string });
});
