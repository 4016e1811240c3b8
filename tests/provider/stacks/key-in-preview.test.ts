import { Consortium, Membership, Provider } from "../../../sdk";
import { type Run, Stack } from "../../support/double/stack";
import { setEnvironment, start } from "../../support/service";

/* A preview asks once whether the key is valid: one that is green with a wrong key would promise what no update can do. */

const program =
  (more: string[] = []) =>
  (): void => {
    const consortium = new Consortium("c");
    for (const name of ["m1", "m2", ...more]) new Membership(name, { consortium });
  };

const asked = ["GET /consortia"];
const textOf = ({ errors, lines }: Run): string => [...errors.map(({ message }) => message), ...lines].join("\n");

describe.each(["dynamic", "plugin"] as const)("%s", (adapter) => {
  test("with one call for all resources, also where nothing changes", async () => {
    const { calls } = await start();
    const stack = new Stack(adapter);
    expect((await stack.preview(program())).errors).toEqual([]);
    expect(calls()).toEqual(asked);
    await stack.up(program());
    calls();
    expect((await stack.preview(program())).errors).toEqual([]);
    expect(calls()).toEqual(asked);
  });

  test.each([
    ["missing", undefined, /^No API key is set\. /],
    ["refused", "revoked", /GET \/consortia: HTTP 401: /],
  ])("a key that is %s fails it, once, with what to do", async (_, apiKey, message) => {
    await start();
    const stack = new Stack(adapter);
    await stack.up(program());
    setEnvironment({ CONSORTIUM_API_KEY: apiKey });
    for (const changed of [program(), program(["m3"])]) {
      const { errors } = await stack.preview(changed, { parallel: 4 });
      expect(errors.map((error) => error.message)).toEqual([expect.stringMatching(message)]);
      expect(errors[0]!.message).toContain(
        "To preview without a key, as for a pull request from a fork, set CONSORTIUM_OFFLINE_PREVIEW=true.",
      );
    }
  });

  test.each([undefined, "revoked"])("CONSORTIUM_OFFLINE_PREVIEW=true asks nothing (key: %s)", async (apiKey) => {
    const { calls } = await start();
    setEnvironment({ CONSORTIUM_API_KEY: apiKey, CONSORTIUM_OFFLINE_PREVIEW: "true" });
    const { errors, steps } = await new Stack(adapter).preview(program());
    expect([errors, steps.length, calls()]).toEqual([[], 3, []]);
    setEnvironment({ CONSORTIUM_OFFLINE_PREVIEW: "yes" });
    const wrong = await new Stack(adapter).preview(program());
    expect(textOf(wrong)).toContain(
      'Environment variable CONSORTIUM_OFFLINE_PREVIEW is "yes": it must be true or false.',
    );
  });

  test("a valid key of another organization fails it, once: what it shows, and what to do", async () => {
    const { service, calls } = await start();
    const keys = { acme: service.addOrganization("acme").apiKey, globex: service.addOrganization("globex").apiKey };
    const keyOf = (name: "acme" | "globex"): string => keys[name];
    setEnvironment({ CONSORTIUM_API_KEY: keyOf("globex") });
    const other = new Stack(adapter);
    await other.up(() => void new Consortium("theirs"));
    setEnvironment({ CONSORTIUM_API_KEY: keyOf("acme") });
    const stack = new Stack(adapter);
    await stack.up(program());
    const [owner, consortium] = [stack.of("c").outputs.owner, stack.of("c").id] as string[];
    setEnvironment({ CONSORTIUM_API_KEY: keyOf("globex") });
    calls();
    const foreign = await stack.preview(program());
    expect(foreign.errors[0]!.message).toMatch(
      new RegExp(
        `was made with organization ${owner}, but the API key .* does not show consortium .*, but some of .*Nothing was changed`,
      ),
    );
    expect(calls()).toEqual(asked);

    // Without a consortium, nothing tells whose the key is.
    await other.destroy();
    const unclear = await stack.preview(program());
    expect(unclear.errors[0]!.message).toMatch(/shows no consortium at all.*CONSORTIUM_CONFIRM_DELETED/);
    setEnvironment({ CONSORTIUM_CONFIRM_DELETED: owner });
    expect((await stack.preview(program())).errors).toEqual([]);

    // A rotated key of the organization lists the consortium.
    setEnvironment({ CONSORTIUM_CONFIRM_DELETED: undefined, CONSORTIUM_API_KEY: service.rotateKey("acme") });
    expect((await stack.preview(program())).errors).toEqual([]);
    expect(consortium).toBeDefined();
  });

  test("a service that cannot be reached is a warning", async () => {
    const { service } = await start();
    await service.close();
    const run = await new Stack(adapter).preview(program());
    expect(run.errors).toEqual([]);
    expect(textOf(run)).toContain(
      "the API key was not checked, so this preview does not tell whether an update can run: GET /consortia: ",
    );
  });

  test("a service that throttles for longer than a preview waits: customTimeouts do not change that", async () => {
    const { service } = await start();
    service.faults.add({ kind: "status", status: 429, errorMessage: "slow down", times: Infinity });
    const text = textOf(await new Stack(adapter).preview(program()));
    expect(text).toContain("no time is left to try again: the limit is 5 s (a preview waits no longer)");
    expect(text).not.toContain("customTimeouts");
  });

  test("the organization that the settings require is asked for, too", async () => {
    await start();
    const stack = new Stack(adapter);
    await stack.up(program());
    setEnvironment({ CONSORTIUM_ORGANIZATION: "o-other" });
    expect((await stack.preview(program())).errors.map(({ message }) => message)).toEqual([
      expect.stringContaining("The organization must be o-other"),
    ]);
  });

  test("each explicit provider has its own key", async () => {
    const { calls } = await start();
    const { errors } = await new Stack(adapter).preview(() => {
      const first = new Consortium("c");
      new Consortium("d", {}, { provider: new Provider("other", { apiKey: "revoked" }), dependsOn: first });
    });
    expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining("HTTP 401")]);
    expect(calls()).toEqual([...asked, ...asked]);
  });
});
