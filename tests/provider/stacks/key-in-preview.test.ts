import { Consortium, Membership, Provider } from "../../../sdk";
import { setEnvironment } from "../../support/service";
import { onBothAdapters } from "../../support/stacks";

/* A preview asks once whether the key is valid: with a wrong key, it would promise an update that must fail. */

const program =
  (more: string[] = []) =>
  (): void => {
    const consortium = new Consortium("c");
    for (const name of ["m1", "m2", ...more]) new Membership(name, { consortium });
  };

const asked = ["GET /consortia"];

onBothAdapters((make) => {
  test("with one call for all resources, even if nothing changes", async () => {
    const { stack, calls } = await make();
    expect((await stack.preview(program())).errors).toEqual([]);
    expect(calls()).toEqual(asked);
    await stack.up(program());
    calls();
    expect((await stack.preview(program())).errors).toEqual([]);
    expect(calls()).toEqual(asked);
  });

  test.each([
    ["missing", undefined, /\[no-key:/],
    ["refused", "revoked", /GET \/consortia: HTTP 401: /],
  ])("a key that is %s fails it, once, with what to do", async (_, apiKey, message) => {
    const { stack } = await make(program());
    setEnvironment({ CONSORTIUM_API_KEY: apiKey });
    for (const changed of [program(), program(["m3"])]) {
      const { errors, failure } = await stack.preview(changed, { parallel: 4 });
      expect([errors.length, failure]).toEqual([1, expect.stringMatching(message)]);
      expect(failure).toContain(
        "To preview without a key, as for a pull request from a fork, set CONSORTIUM_OFFLINE_PREVIEW=true.",
      );
    }
  });

  test.each([undefined, "revoked"])("CONSORTIUM_OFFLINE_PREVIEW=true asks nothing (key: %s)", async (apiKey) => {
    const { stack, calls } = await make();
    setEnvironment({ CONSORTIUM_API_KEY: apiKey, CONSORTIUM_OFFLINE_PREVIEW: "true" });
    const { errors, steps } = await stack.preview(program());
    expect([errors, steps.length, calls()]).toEqual([[], 3, []]);
    setEnvironment({ CONSORTIUM_OFFLINE_PREVIEW: "yes" });
    expect((await stack.preview(program())).failure).toContain("[invalid-setting:");
  });

  test("a service that cannot be reached is a warning", async () => {
    const { service, stack } = await make();
    await service.close();
    const run = await stack.preview(program());
    expect(run.errors).toEqual([]);
    expect(run.said).toContain("could not verify the API key; the update may fail: The service at ");
  });

  test("each explicit provider has its own key", async () => {
    const { stack, calls } = await make();
    const { errors, failure } = await stack.preview(() => {
      const first = new Consortium("c");
      new Consortium("d", {}, { provider: new Provider("other", { apiKey: "revoked" }), dependsOn: first });
    });
    expect(errors).toHaveLength(1);
    expect(failure).toMatch(
      /The API key from argument apiKey of the Provider was refused .*: give that Provider a valid one; add.*HTTP 401: /,
    );
    expect(calls()).toEqual([...asked, ...asked]);
  });
});
