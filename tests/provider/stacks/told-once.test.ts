import { AppCred, Consortium, Environment, Membership, Node } from "../../../sdk";
import { type Run, Stack } from "../../support/double/stack";
import { send } from "../../support/network";
import { setEnvironment, start, type Started } from "../../support/service";

/* What every resource meets alike, one of them tells whole, with what to do; the others say where. */

const program = (): void => {
  const consortium = new Consortium("c");
  const membership = new Membership("m", { consortium });
  const environment = new Environment("e", { consortium, provider: "quorum", consensusType: "raft" });
  for (const name of ["n1", "n2", "n3"]) new Node(name, { environment, membership });
  new AppCred("a", { environment, membership });
};

const failures: [string, RegExp, RegExp, (started: Started) => Promise<Record<string, string | undefined>>][] = [
  [
    "no key",
    /No API key is set\. Set the environment variable/,
    /^No API key is set: see the error for /,
    () => Promise.resolve({ CONSORTIUM_API_KEY: undefined }),
  ],
  [
    "a key that is refused",
    /HTTP 401: .*set a valid one there/,
    /^The API key was refused: see the error for /,
    () => Promise.resolve({ CONSORTIUM_API_KEY: "revoked" }),
  ],
  [
    "the key of another organization",
    /was made with organization .*belongs to organization .*Unset CONSORTIUM_API_KEY/,
    /^The API key is not known to belong to organization \S+: see the error for /,
    async ({ service }) => {
      const { apiKey } = service.addOrganization("theirs");
      await send({ ...service, baseUrl: service.baseUrl, apiKey }, "POST", "/consortia", { name: "theirs" });
      return { CONSORTIUM_API_KEY: apiKey };
    },
  ],
  [
    "another organization that is required",
    /must be o-other .*Select the stack of o-other/,
    /^The organization must be o-other, and this was made with another one: see the error for /,
    () => Promise.resolve({ CONSORTIUM_ORGANIZATION: "o-other" }),
  ],
  [
    "a service that cannot be reached",
    /cannot be reached: check the address/,
    /^The service cannot be reached: see the error for /,
    () => Promise.resolve({ CONSORTIUM_BASE_URL: "http://127.0.0.1:9/api/v1" }),
  ],
];

describe.each(["dynamic", "plugin"] as const)("%s", (adapter) => {
  test.each(failures)("%s", async (_, whole, brief, settings) => {
    const started = await start();
    const stack = new Stack(adapter);
    expect(await stack.up(program)).toMatchObject({ errors: [] });
    setEnvironment(await settings(started));
    const told = ({ errors }: Run): void => {
      const [long, short] = [whole, brief].map((text) => errors.filter(({ message }) => text.test(message)));
      expect([long!.length, short!.length]).toEqual([1, errors.length - 1]);
      const kinds = { c: "consortium", m: "membership", e: "environment", n1: "node", n2: "node", n3: "node" };
      const { name } = long![0]!;
      const title = adapter === "plugin" ? "\\w+" : ({ ...kinds, a: "credential" } as Record<string, string>)[name];
      for (const { message } of short!) expect(message).toMatch(new RegExp(`${title} "${name}"\\.$`));
      for (const { message } of short!) expect(message.length).toBeLessThan(120);
    };
    const refreshed = await stack.refresh();
    expect(refreshed.errors).toHaveLength(7);
    told(refreshed);
    told(await stack.destroy()); // another run tells it anew
  });
});
