import { AppCred, Consortium, Environment, Membership } from "../../../sdk";
import { type AppCredFields } from "../../../sdk/generated";
import { sha256 } from "../../../service/store/files";
import { type Run, Stack } from "../../support/double/stack";
import { type FaultRule, type ServiceOptions } from "../../../service/index";
import { lostAnswers, titled } from "../../support/faults";
import { impatient, newProcess, start } from "../../support/service";

/* rotateWhenChanged of a credential lets the service make a new password for the same username. */

const program = (credential: AppCredFields = {}) => {
  return (): void => {
    const consortium = new Consortium("c");
    const membership = new Membership("m", { consortium });
    const environment = new Environment("e", { consortium, provider: "quorum", consensusType: "raft" });
    new AppCred("a", { environment, membership, ...credential });
  };
};
const may = { rotateWhenChanged: { month: "may" } };
const june = { rotateWhenChanged: { month: "june" } };

const changes = ({ steps }: Run): string[] => steps.filter((step) => !/^(same|refresh) /.test(step));
const messages = ({ errors }: Run): string => errors.map(({ message }) => message).join();
type Outputs = Record<string, string | { value: string }>;
/** Outputs with their secrets in the clear. */
const plain = (outputs: Outputs): Record<string, string> =>
  Object.fromEntries(
    Object.entries(outputs).map(([key, value]) => [key, typeof value === "string" ? value : value?.value]),
  );

const place = "/consortia/:consortiumId/environments/:environmentId/appcreds/:credentialId";
const [patched, regenerated] = [`PATCH ${place}`, `POST ${place}/regenerate`];

describe.each(["dynamic", "plugin"] as const)("%s", (adapter) => {
  async function made(first = program(may), options: ServiceOptions = {}) {
    const started = await start(options);
    const stack = new Stack(adapter);
    expect(await stack.up(first)).toMatchObject({ errors: [] });
    const { service } = started;
    service.clearCalls();
    const writes = (): string[] => started.calls().filter((call) => !call.startsWith("GET"));
    const password = (): string => plain(stack.of("a").outputs as Outputs).password!;
    /** Whether the password in the state opens something. */
    const opens = (): boolean => service.store.credentials.list()[0]!.fields.passwordHash === sha256(password());
    return { ...started, stack, writes, password, opens };
  }

  test("a new value regenerates it in place, once; the preview says so", async () => {
    const { stack, writes, password, opens } = await made();
    const [before, { id, outputs }] = [password(), stack.of("a")];
    const preview = await stack.preview(program(june));
    expect(changes(preview)).toEqual(["update AppCred a"]);
    expect(preview.lines.join("\n")).toContain(
      'credential "a": gets a new password, because rotateWhenChanged changes; the old password stops working at once',
    );
    expect(writes()).toEqual([]);
    const run = await stack.up(program(june));
    expect([run.errors, changes(run), writes()]).toEqual([[], ["update AppCred a"], [regenerated]]);
    expect([password() === before, opens(), stack.of("a").id]).toEqual([false, true, id]);
    const { username, basicAuthHeader } = plain(stack.of("a").outputs as Outputs);
    expect(username).toBe(plain(outputs as Outputs).username);
    expect(basicAuthHeader).toBe(`Basic ${Buffer.from(`${username}:${password()}`).toString("base64")}`);
    expect(changes(await stack.up(program(june), { refresh: true }))).toEqual([]);
    expect(writes()).toEqual([]);
  });

  test("a first value asks for it, and none asks for nothing", async () => {
    const { stack, writes, password } = await made(program());
    await stack.up(program(may));
    expect(writes()).toEqual([regenerated]);
    const before = password();
    const without = await stack.up(program());
    expect([without.errors, changes(without), writes()]).toEqual([[], ["update AppCred a"], []]);
    expect(password()).toBe(before);
    expect(changes(await stack.up(program()))).toEqual([]);
  });

  test("with another name: both, and where it cannot be renamed, the new password is kept", async () => {
    const { stack, writes, opens, service } = await made();
    expect((await stack.up(program({ ...june, name: "web" }))).errors).toEqual([]);
    expect([writes(), opens()]).toEqual([[regenerated, patched], true]);
    service.faults.add({ kind: "status", status: 405, method: "PATCH" });
    expect(messages(await stack.up(program({ ...may, name: "third" })))).toMatch(/cannot change name in place/);
    expect([writes(), opens()]).toEqual([[regenerated, patched], true]);
  });

  test("what fails after it keeps the new password, and only that is done again", async () => {
    const { stack, writes, opens, service } = await made();
    service.faults.add({ kind: "status", status: 400, errorMessage: "too short", method: "PATCH" });
    expect(messages(await stack.up(program({ ...june, name: "w" })))).toMatch(/too short/);
    expect([writes(), opens()]).toEqual([[regenerated, patched], true]);
    expect((await stack.up(program({ ...june, name: "w" }))).errors).toEqual([]);
    expect([writes(), opens()]).toEqual([[patched], true]);
  });

  test("with other keepers: a new pair, and nothing is regenerated", async () => {
    const { stack, writes, opens } = await made();
    const run = await stack.up(program({ ...june, keepers: { a: 1 } }));
    expect(run.errors).toEqual([]);
    expect(writes()).not.toContain(regenerated);
    expect(opens()).toBe(true);
  });

  test.each([404, 405])(
    "a service that cannot (%i): says what is possible, and nothing has changed",
    async (status) => {
      const { stack, writes, service, password, opens } = await made();
      service.faults.add({ kind: "status", status, route: /regenerate/, times: Infinity });
      const before = password();
      const run = await stack.up(program(june));
      expect(messages(run)).toMatch(
        /credential "a" \(.*\): this service cannot regenerate its password \(.*Nothing was changed\. Set the old rotateWhenChanged again, and change keepers instead/,
      );
      expect([writes(), password() === before, opens()]).toEqual([[regenerated], true, true]);
      expect(changes(await stack.up(program(may)))).toEqual([]);
    },
  );

  test("one that is gone: says so", async () => {
    const { stack, service } = await made();
    service.store.credentials.remove(stack.of("a").id);
    expect(messages(await stack.up(program(june)))).toMatch(/no longer exists.*up --refresh/);
  });

  test.each(titled(lostAnswers))(
    "the answer is lost: it is asked again, and what comes last is kept: %s",
    async (_, fault) => {
      const { stack, service, opens } = await made();
      impatient(fault);
      newProcess();
      service.faults.add({ ...fault, route: /regenerate/ });
      expect((await stack.up(program(june))).errors).toEqual([]);
      expect(opens()).toBe(true);
    },
  );

  test.each<[string, FaultRule, RegExp]>([
    ["no answer comes at all", { kind: "resetAfter", times: Infinity }, /may no longer work: run `pulumi up` again/],
    ["an answer without the password", { kind: "status", status: 200, acted: true }, /password and did not show it/],
  ])(
    "%s: the password is worth nothing, and the next up makes another, whatever it asks for",
    async (_, fault, says) => {
      const { stack, service, opens } = await made();
      for (const [asked, next] of [
        [june, june],
        [may, june],
      ] as const) {
        service.faults.add({ ...fault, route: /regenerate/ });
        expect(messages(await stack.up(program(asked)))).toMatch(says);
        expect(opens()).toBe(false);
        service.faults.clear();
        expect((await stack.up(program(next))).errors).toEqual([]);
        expect([opens(), changes(await stack.up(program(next)))]).toEqual([true, []]);
      }
    },
  );
});
