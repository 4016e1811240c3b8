import { PassThrough } from "node:stream";
import { join } from "node:path";
import { consortium } from "../cli/command";
import { writeIn } from "./made";
import { StubFleet, type StubPulumi } from "./stub-pulumi";

/* What `up` and `destroy` show and ask before they change anything. */

let folder: string;
let pulumi: StubPulumi;
let file: string;
let own: StubFleet;
const organizations = { acme: { apiKey: { env: "KEY" }, stacks: { prod: "trade.yaml" } } };
beforeEach(() => {
  own = new StubFleet("trade");
  ({ folder, pulumi } = own);
  file = own.write(organizations);
});

/** @param answer at a terminal; undefined: there is none */
async function fleet(args: string[], answer?: string, orders: Record<string, string> = {}) {
  const input = Object.assign(new PassThrough(), { isTTY: answer !== undefined });
  input.end(answer);
  const stdin = Object.getOwnPropertyDescriptor(process, "stdin")!;
  Object.defineProperty(process, "stdin", { ...stdin, get: () => input });
  try {
    const env = { ...pulumi.env, KEY: "a-key-of-acme", ...orders };
    return await consortium(["fleet", args[0]!, file, ...args.slice(1)], env);
  } finally {
    Object.defineProperty(process, "stdin", stdin);
  }
}

const saying = (text: string) => expect.stringContaining(text) as string;

/** What Pulumi was told to do to the stack. */
const verbs = () =>
  pulumi.calls.flatMap(
    (call) => /^(up|preview|destroy( .*--preview-only)?)/.exec(call)?.[1]?.replace(/ .* /, " ") ?? [],
  );

const unasked =
  "consortium: Use --yes to run it for 1 stack: there is no terminal to ask for confirmation. [missing-argument: ";
test.each([
  [["up"], unasked],
  [["up", "--json"], unasked],
  [["destroy"], unasked],
  [["up", "--yes", "--junit", "."], "consortium: . cannot be written: it is a folder. [invalid-file: "],
  [["up", "--yes", "--junit", `${__filename}/a`], `${__filename}/a cannot be written: its folder is a file. `],
  [["up", "--yes", "--policy-pack", __dirname], `--policy-pack ${__dirname}: ${__dirname} has no PulumiPolicy.yaml`],
  [["up", "--yes", "--allow-ledger-loss", "acme-pord"], "has no stack like acme-pord"],
])("%j is refused before anything runs: %s", async (args, said) => {
  const { code, stdout, stderr } = await fleet(args, args.includes("--json") ? "y\n" : undefined);
  expect({ code, stderr }).toEqual({ code: 1, stderr: saying(said) });
  expect(stdout).toContain(args.includes("--json") ? '"code": "missing-argument"' : "");
  expect(() => pulumi.calls).toThrow("ENOENT");
});

test.each(["v3.205.0", "v2.300.0"])("Pulumi %s, which writes secrets to disk, is refused at once", async (old) => {
  const { code, stderr } = await fleet(["up", "--yes"], undefined, { STUB_VERSION: old });
  expect(code).toBe(1);
  expect(stderr).toContain(`Update Pulumi. A fleet needs 3.216.0 or newer, and the one on the PATH is ${old}.`);
  expect(pulumi.calls).toEqual(["version"]);
});

test("nobody is asked about no stacks, nor with --yes, nor for what changes nothing", async () => {
  for (const args of [["up", "--stage", "2"], ["destroy", "--yes"], ["preview"], ["drift", "--stage", "2"]])
    expect(await fleet(args)).toMatchObject({ code: 0, stderr: expect.not.stringContaining("confirmation") as string });
});

test("up shows its preview and asks; only a yes goes on", async () => {
  const no = await fleet(["up"], "n\n");
  expect(no).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/Change 1 stack\? \[y\/N\] Nothing was changed\.\n$/) as string,
  });
  expect(no.stdout).toContain("1 of 1 stack ok; nothing to change");
  expect(verbs()).toEqual(["preview"]);
  const yes = await fleet(["up"], "y\n");
  expect(yes).toMatchObject({ code: 0, stderr: expect.not.stringContaining("Nothing was changed") as string });
  expect(yes.stdout).toMatch(/nothing to change;[^]*1 created;/);
  expect(verbs()).toEqual(["preview", "preview", "up"]);
});

describe("a ledger that up would destroy", () => {
  const orders = { "STUB_acme-prod": "lose" };
  const losses = ["e", "f"].map((name) => `replaces Environment ${name}`);
  const warned = (when: string) =>
    losses
      .map((loss) => `WARNING: acme-prod: ${loss}: THE LEDGER, AND ALL THAT IS WRITTEN IN IT, ${when} DESTROYED\n`)
      .join("");
  beforeEach(() => fleet(["up", "--yes"]));

  test("is no good preview, unless it is allowed", async () => {
    const { code, stdout } = await fleet(["preview"], undefined, orders);
    expect([code, stdout]).toEqual([2, saying(warned("WOULD BE"))]);
    expect(stdout).toContain("0 of 1 stack ok, 1 loses a ledger; 2 ledgers to be destroyed; ");
    expect(await fleet(["preview", "--allow-ledger-loss", "acme-*"], undefined, orders)).toMatchObject({
      code: 0,
      stdout: saying("1 of 1 stack ok; 2 ledgers to be destroyed; "),
    });
  });

  test("stays with --yes, each time, until it is allowed", async () => {
    for (let turn = 1; turn <= 2; turn++) {
      const { code, stdout } = await fleet(["up", "--yes"], undefined, orders);
      expect([code, stdout]).toEqual([
        1,
        saying(
          `would lose a ledger, and all that is written in it: ${losses.join(", ")}. Nothing was changed. [loses-ledger: `,
        ),
      ]);
      expect(stdout).toContain("0 of 1 stack ok, 1 failed; nothing changed; ");
    }
    expect(verbs()).toEqual(["up", "preview", "preview"]);
    const { code, stdout } = await fleet(["up", "--yes", "--allow-ledger-loss", "acme-prod"], undefined, orders);
    expect([code, stdout]).toEqual([0, saying(warned("IS"))]);
    expect(stdout).toContain("1 of 1 stack ok; 2 ledgers destroyed; ");
    expect(verbs().slice(3)).toEqual(["up"]);
  });

  test("goes once somebody has seen it and agrees", async () => {
    const { code, stdout } = await fleet(["up"], "y\n", orders);
    expect([code, stdout]).toEqual([0, saying(warned("WOULD BE"))]);
    expect(stdout).toContain(warned("IS"));
  });
});

test("up does not ask if its preview fails", async () => {
  const { code, stdout, stderr } = await fleet(["up"], "y\n", { "STUB_acme-prod": "fail:no" });
  expect({ code, stdout }).toEqual({ code: 1, stdout: saying("acme-prod  failed") });
  expect(stderr).not.toContain("Change");
  expect(verbs()).toEqual(["preview"]);
});

test("destroy names the ledgers that will be lost and asks; only a yes goes on", async () => {
  await fleet(["up", "--yes"]);
  const no = await fleet(["destroy"], "n\n");
  expect(no).toMatchObject({ code: 1, stdout: "" });
  expect(no.stderr).toMatch(
    /^WARNING: acme-prod: .* WILL BE DESTROYED\nDestroy everything in 1 stack\? \[y\/N\] Nothing was changed\.\n$/,
  );
  expect(await fleet(["destroy"], "y\n")).toMatchObject({
    code: 0,
    stdout: saying("1 of 1 stack ok"),
  });
  expect(verbs()).toEqual(["up", "destroy --preview-only", "destroy --preview-only", "destroy"]);
});

test("a stack that left the file is named with how to destroy it, but not by destroy itself", async () => {
  pulumi.stacks = { "fleet/acme-old": { tags: {}, networks: ["tea"], ids: ["id-of-tea"] } };
  const note = `The stack acme-old is not in ${file} and was not changed. To destroy its contents, add it again for one \`consortium fleet destroy ${file} --only acme-old\`.`;
  expect((await fleet(["preview"])).stdout.split("\n")).toContain(note);
  expect((await fleet(["destroy", "--yes"])).stdout).not.toContain("acme-old");
});

test("of two policy packs, each has its own configuration, or none", async () => {
  for (const name of ["first", "second", "third"]) writeIn(folder, `${name}/PulumiPolicy.yaml`, "runtime: nodejs\n");
  const config = writeIn(folder, "second.json", "{}");
  own.write(organizations, { policyPacks: ["first", { path: "second", config: "second.json" }] });
  expect(await fleet(["up", "--yes", "--policy-pack", join(folder, "third")])).toMatchObject({ code: 0 });
  const packs = ["first", "second", "third"].map((name) => `--policy-pack ${join(folder, name)}`).join(" ");
  const configs = `--policy-pack-config  --policy-pack-config ${config} --policy-pack-config `;
  const judged = pulumi.calls.filter((call) => call.includes("--policy-pack"));
  expect(judged.map((call) => [call.includes(packs), call.includes(configs)])).toEqual([
    [true, true],
    [true, true],
  ]);
});
