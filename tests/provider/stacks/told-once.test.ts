import { AppCred, Membership, Node } from "../../../sdk";
import { type Run } from "../../support/double/stack";
import { send } from "../../support/network";
import { hostedAnswers, newProcess, setEnvironment } from "../../support/service";
import { ledger, type Made, onBothAdapters } from "../../support/stacks";

/*
 * A service that cannot be used with these settings: nothing is dropped or half done. One resource reports the common error in full, with
 * advice; the others refer to it.
 */

const program = (description: string, more: string[] = []) =>
  ledger(
    ({ consortium, environment, membership }) => {
      for (const name of ["n1", "n2", "n3"]) new Node(name, { environment, membership });
      new AppCred("a", { environment, membership });
      for (const name of more) new Membership(name, { consortium });
    },
    { description },
  );

type Settings = Record<string, string | undefined>;
const failures: [string, whole: RegExp, brief: RegExp, (world: Made) => Settings | Promise<Settings>][] = [
  [
    "no key",
    /^Set the environment variable CONSORTIUM_API_KEY, or run `pulumi config set --secret consortium:apiKey`.* No API key is set\./,
    /^No API key is set: see the error for /,
    () => ({ CONSORTIUM_API_KEY: undefined }),
  ],
  [
    "a key that is refused",
    /The API key from environment variable CONSORTIUM_API_KEY was refused.*set a valid one there.*HTTP 401: /,
    /^The API key was refused: see the error for /,
    () => ({ CONSORTIUM_API_KEY: "revoked" }),
  ],
  [
    "the key of an organization that was invited",
    /Unset CONSORTIUM_API_KEY.*was made with organization .*belongs to organization /,
    /^The API key is not known to belong to organization \S+: see the error for /,
    async ({ service, stack }) => {
      const { apiKey } = service.addOrganization("south");
      const invitations = `/consortia/${stack.of("c").id}/invitations`;
      const { _id } = await send(service, "POST", invitations, { org_name: "south", email: "ops@south.example" });
      service.store.invitations.accept(_id);
      return { CONSORTIUM_API_KEY: apiKey };
    },
  ],
  [
    "another organization that is required",
    /Select the stack of o-other.*must be o-other /,
    /^The organization must be o-other, and this was made with another one: see the error for /,
    () => ({ CONSORTIUM_ORGANIZATION: "o-other" }),
  ],
  [
    "a service that cannot be reached",
    /The service at http:\/\/127\.0\.0\.1:9\/api\/v1 \(from environment variable CONSORTIUM_BASE_URL\) cannot be reached: check the address.* the connection was refused\./,
    /^The service cannot be reached: see the error for /,
    () => ({ CONSORTIUM_BASE_URL: "http://127.0.0.1:9/api/v1" }),
  ],
];

onBothAdapters((make) => {
  /** A stack that was made, and then each verb with these settings: nothing in it changes, and nothing in the service. */
  async function eachVerb(settings: (world: Made) => Settings | Promise<Settings>, told: (run: Run) => void) {
    const world = await make(program("old"), { answers: hostedAnswers });
    const { stack, service, writes } = world;
    setEnvironment(await settings(world));
    const now = (): string => JSON.stringify([[...stack.resources.keys()].sort(), service.store.nodes.list()]);
    const before = now();
    for (const verb of [
      () => stack.refresh(),
      () => stack.up(program("new", ["another"])),
      () => stack.destroy(), // another run tells it anew
    ]) {
      newProcess();
      told(await verb());
    }
    expect([now(), writes().filter((call) => !/^POST .*\/invitations$/.test(call))]).toEqual([before, []]);
  }

  test.each(failures)("%s", async (_, whole, brief, settings) => {
    await eachVerb(settings, ({ errors }) => {
      const [long, short] = [whole, brief].map((text) => errors.filter(({ message }) => text.test(message)));
      expect([long!.length, short!.length]).toEqual([1, errors.length - 1]);
      const named = new RegExp(`\\w+ "${long![0]!.name}"\\. \\[[a-z-]+\\]$`);
      for (const { message } of short!) expect(message).toMatch(named);
      for (const { message } of short!) expect(message.length).toBeLessThan(140);
    });
  });
});
