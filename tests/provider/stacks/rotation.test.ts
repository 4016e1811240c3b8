import { AppCred } from "../../../sdk";
import { type AppCredFields } from "../../../sdk/generated";
import { sha256 } from "../../../service/storage/files";
import { type FaultRule } from "../../../service/index";
import { revealed } from "../../support/double/wire";
import { ledger, onBothAdapters } from "../../support/stacks";

/* rotateWhenChanged of a credential lets the service make a new password for the same username. */

const program = (credential: AppCredFields = {}) =>
  ledger(({ environment, membership }) => new AppCred("a", { environment, membership, ...credential }));
const may = { rotateWhenChanged: { month: "may" } };
/** Each character counts. */
const june = { rotateWhenChanged: { month: "may " } };

const place = "/consortia/:consortiumId/environments/:environmentId/appcreds/:credentialId";
const [patched, regenerated] = [`PATCH ${place}`, `POST ${place}/regenerate`];

onBothAdapters((make) => {
  async function made(first = program(may)) {
    const world = await make(first);
    const { service, stack } = world;
    const outputs = () => revealed(stack.of("a").outputs) as Record<string, string>;
    const password = (): string => outputs().password!;
    /** Whether the password in the state works. */
    const opens = (): boolean => service.store.credentials.list()[0]!.fields.passwordHash === sha256(password());
    return { ...world, outputs, password, opens };
  }

  test("a new value regenerates the password in place, once, and the preview says so", async () => {
    const { stack, writes, outputs, password, opens, expectChanges } = await made();
    const [before, { id }, { username }] = [password(), stack.of("a"), outputs()];
    const preview = await stack.preview(program(june));
    expect(preview.changes).toEqual(["update AppCred a"]);
    expect(preview.said).toContain(
      'credential "a": gets a new password, because rotateWhenChanged changes; the old password stops working at once',
    );
    expect(writes()).toEqual([]);
    const { said } = await expectChanges(program(june), ["update AppCred a"]);
    for (const one of [before, password()]) expect(said).not.toContain(one);
    expect(writes()).toEqual([regenerated]);
    expect([password() === before, opens(), stack.of("a").id]).toEqual([false, true, id]);
    expect(outputs().username).toBe(username);
    expect(outputs().basicAuthHeader).toBe(`Basic ${Buffer.from(`${username}:${password()}`).toString("base64")}`);
  });

  test("with another name: both change, and if it cannot be renamed, the new password is kept", async () => {
    const { stack, writes, opens, service } = await made();
    expect((await stack.up(program({ ...june, name: "web" }))).errors).toEqual([]);
    expect([writes(), opens()]).toEqual([[regenerated, patched], true]);
    service.faults.add({ kind: "status", status: 405, method: "PATCH" });
    expect((await stack.up(program({ ...may, name: "third" }))).failure).toMatch(/cannot change name in place/);
    expect([writes(), opens()]).toEqual([[regenerated, patched], true]);
  });

  test("a later failure keeps the new password, and only the failed step is repeated", async () => {
    const { stack, writes, opens, service } = await made();
    service.faults.add({ kind: "status", status: 400, errorMessage: "too short", method: "PATCH" });
    expect((await stack.up(program({ ...june, name: "w" }))).failure).toMatch(/too short/);
    expect([writes(), opens()]).toEqual([[regenerated, patched], true]);
    expect((await stack.up(program({ ...june, name: "w" }))).errors).toEqual([]);
    expect([writes(), opens()]).toEqual([[patched], true]);
  });

  test.each([404, 405])("a service that cannot (%i): says what is possible, and nothing changed", async (status) => {
    const { stack, writes, service, password, opens } = await made();
    service.faults.add({ kind: "status", status, route: /regenerate/, times: Infinity });
    const before = password();
    expect((await stack.up(program(june))).failure).toMatch(
      /credential "a" \(.*\): set the old rotateWhenChanged again, and change keepers instead.*This service cannot regenerate its password \(.*Nothing was changed\./,
    );
    expect([writes(), password() === before, opens()]).toEqual([[regenerated], true, true]);
    expect((await stack.up(program(may))).changes).toEqual([]);
  });

  test("one that is gone: says so", async () => {
    const { stack, service } = await made();
    service.store.credentials.remove(stack.of("a").id);
    expect((await stack.up(program(june))).failure).toMatch(/\[deleted-outside:/);
  });

  test.each<[string, FaultRule, RegExp]>([
    ["no answer comes at all", { kind: "resetAfter", times: Infinity }, /run `pulumi up` again.*may no longer work/],
    [
      "an answer without the password",
      { kind: "status", status: 200, acted: true },
      /password and did not show it\. \[unclear-change:/,
    ],
  ])(
    "%s: the password no longer works; the next up makes another, whatever the program asks for",
    async (_, fault, says) => {
      const { stack, service, opens } = await made();
      for (const [asked, next] of [
        [june, june],
        [may, june],
      ] as const) {
        service.faults.add({ ...fault, route: /regenerate/ });
        expect((await stack.up(program(asked))).failure).toMatch(says);
        expect(opens()).toBe(false);
        service.faults.clear();
        expect((await stack.up(program(next))).errors).toEqual([]);
        expect([opens(), (await stack.up(program(next))).changes]).toEqual([true, []]);
      }
    },
  );
});
