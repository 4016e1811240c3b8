import { type ServiceOptions } from "../../../service/index";
import { canaryKey, wholeTree, world } from "../support/world";

/**
 * Services that answer in other ways than the embedded one does by default, all within what the spec allows. Each way alone, for
 * every resource: tests/provider/resources/answers.test.ts.
 */
const services: [string, ServiceOptions & { plugin?: boolean }][] = [
  [
    "answers 200 to everything, without bodies, and 410 to what is gone",
    {
      plugin: true,
      answers: {
        created: 200,
        deleted: { environment: 200, consortium: 200, membership: 200, node: 200, credential: 200 },
        emptyBodies: true,
        gone: 410,
        listCredentials: 405,
      },
    },
  ],
  [
    "says id instead of _id, adds fields that nobody knows, has lists that lag half a second, and answers 403 to what is gone",
    { plugin: true, answers: { idField: "id", unknownFields: true, gone: 403 }, timing: { listLag: 500 } },
  ],
  [
    "has only the calls that the spec lists, deletes slowly, and keeps parents until their children are gone",
    {
      answers: { getById: false, patch: 404, listCredentials: 404, strictBodies: true, refuseChildren: true },
      timing: { deleting: 1_500, deletedVisible: 2_000 },
    },
  ],
];

test.each(services)("a whole life on a service that %s", async (_, options) => {
  const { service, stack, network, close } = await world(wholeTree, { inline: true, ...options });
  try {
    const up = await stack.up();
    expect(up).toMatchObject({ code: 0 });
    expect(await stack.outputs()).toMatchObject({
      rpc: expect.stringContaining("http") as string,
      password: expect.stringMatching(/.{8}/) as string,
      header: expect.stringMatching(/^Basic /) as string,
      chainId: expect.any(Number) as number,
    });
    expect(await stack.preview({}, "--expect-no-changes")).toMatchObject({ code: 0 });
    service.clearCalls();
    const refresh = await stack.run(["refresh", "--preview-only", "--expect-no-changes"]);
    expect(refresh).toMatchObject({ code: 0 });
    expect(service.calls.length).toBeLessThanOrEqual(8);
    expect(await stack.destroy()).toMatchObject({ code: 0 });
    expect(await stack.resources()).toEqual([]);
    service.setTiming({ listLag: 0 });
    expect((await network()).consortia).toEqual([]);
    expect(up.text).not.toContain(canaryKey);
  } finally {
    await close();
  }
});
