import { Engine, type Kind, type Props } from "../support/engine";
import { json, peer } from "../support/peer";
import { setEnvironment, start } from "../support/service";
import { secret } from "../support/double/wire";
import { Protocol } from "../support/protocol";

/* A service may quote requests in its messages. Neither provider shows values that the program marked as secret. */

const canary = 'canary-7/"quoted" & ünique';
const hidden = { description: canary, extra: { zone: "north", deep: [{ token: canary }] } };
const marked = { description: secret(canary), extra: { zone: "north", deep: [{ token: secret(canary) }] } };
const paths = [["description"], ["extra", "deep", 0, "token"]];

/** Quotes whatever it was last sent. */
async function quoting(status: number): Promise<void> {
  const service = await peer((response, seen, socket) => {
    const { method, body } = service.requests[seen - 1]!;
    if (method === "GET") return json(200, [])(response, seen, socket);
    const words = `cannot take ${body}, that is ${Buffer.from(body).toString("base64")} or ${encodeURIComponent(canary)}`;
    return json(status, { errorMessage: words })(response, seen, socket);
  });
  setEnvironment({ CONSORTIUM_API_KEY: "a-key-of-mine", CONSORTIUM_BASE_URL: service.baseUrl });
}

let shown: string[];
beforeEach(() => {
  shown = [];
  jest.spyOn(console, "log").mockImplementation((line: string) => void shown.push(line));
});

function expectHidden(text: string): void {
  expect(text).toContain("[secret]");
  for (const part of ["canary", "nique", Buffer.from("canary-7/").toString("base64").slice(4)])
    expect(text).not.toContain(part);
}

describe.each([400, 422, 403])("HTTP %d", (status) => {
  test("on the dynamic provider", async () => {
    await quoting(status);
    const outcome = await new Engine("consortium").up({ name: "trade", ...hidden, __secrets: paths });
    expect(outcome).toMatchObject({ then: "failed" });
    const { error } = outcome as { error: string };
    expectHidden([error, ...shown].join("\n"));
    expect(error).toContain('"name":"trade"');
    expect(error).toContain('"zone":"north"');
  });

  test("on the plugin", async () => {
    await quoting(status);
    const plugin = await Protocol.start();
    try {
      await plugin.configure();
      const { inputs } = await plugin.check("Consortium", { name: "trade", ...marked });
      expect(inputs.__secrets).toEqual(paths);
      const error = await plugin.create("Consortium", inputs).then(
        () => "",
        ({ details }: { details: string }) => details,
      );
      expectHidden([error, ...plugin.shown.map(({ text }) => text)].join("\n"));
      expect(error).toContain('"name":"trade"');
    } finally {
      plugin.close();
    }
  });
});

describe("the dynamic provider refuses a wrong input", () => {
  const environment = { consortiumId: "c", provider: "quorum", consensusType: "raft" };
  const broken = { name: "e", extra: { deep: [{ token: "canary \ud83d" }], beside: "half \ud83d" } };
  const [deep, beside] = ["extra.deep.0.token", "extra.beside"];
  test.each<[string, Props, string[][], string[]]>([
    ["that is secret, without its name: the engine would print its value", { name: 1234567 }, [["name"]], [""]],
    ["inside one that is secret", broken, [["extra"]], ["", ""]],
    ["beside a secret in the same object", broken, [["extra", "deep", "0", "token"]], ["", ""]],
    ["that is not secret, by its name", broken, [["name"]], [deep, beside]],
  ])("%s", async (_, inputs, secrets, properties) => {
    const outcome = await new Engine("environment").preview({ ...environment, ...inputs, __secrets: secrets });
    const { failures } = outcome as { failures: { property: string; reason: string }[] };
    expect(failures.map(({ property }) => property)).toEqual(properties);
    expect(JSON.stringify(failures)).not.toMatch(/1234567|canary/);
  });
});

test.each<[string, Kind, Props]>([
  ["a creation in place of an adoption", "consortium", { name: canary, adopt: true }],
  ["an adoption", "consortium", { name: "trade", adopt: canary }],
  ["a cost", "tetherService", { tetherId: "aBcDeFgHiJ", network: `other:${canary}`, intervalHours: 1 }],
])("a preview that announces %s hides the secret in it", async (_, kind, inputs) => {
  const { said } = await start();
  const secrets = Object.keys(inputs).flatMap((key) => (String(inputs[key]).includes(canary) ? [[key]] : []));
  await new Engine(kind).preview({ ...inputs, __secrets: secrets, __preview: true });
  expectHidden(said.join("\n"));
});

test("later runs know the secrets from the state, and the marks do not reach the service", async () => {
  const { service } = await start();
  const engine = new Engine("consortium");
  expect(await engine.up({ name: "trade", ...hidden, __secrets: paths })).toEqual({ then: "created" });
  expect(engine.kept!.outputs.__secrets).toEqual(paths);
  await engine.refresh();
  expect(engine.kept!.outputs.__secrets).toEqual(paths);
  expect(JSON.stringify(service.store.consortia.list())).not.toContain("__secrets");
  service.faults.add({ kind: "status", status: 401, errorMessage: `kept: ${canary}`, method: "DELETE" });
  expect(await engine.preview({ name: "trade", ...hidden, __secrets: paths })).toEqual({ then: "same" });
  const error = await engine.destroy().catch(({ message }: Error) => message);
  expect(error).toContain("kept: [secret]");
});
