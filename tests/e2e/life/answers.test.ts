import { send } from "../../support/network";
import { failed } from "../support/stack";
import { wholeTree, world } from "../support/world";

/* What a run reads of the service before it promises or pays, with the real CLI. Refusals, states and proof that an object is gone: provider/stacks. */

test("a preview looks before it says what is adopted", async () => {
  const { stack, service } = await world(wholeTree, { inline: true, plugin: true, ledger: false });
  expect(await stack.up()).toMatchObject({ code: 0 });
  await stack.ok(["stack", "init", "second"]);
  const text = (await stack.preview({ CONSORTIUM_ADOPT: "true" }, "--stack", "second")).text.replace(/\s+/g, " ");
  const { consortia, environments, nodes } = service.store;
  for (const { id } of [...consortia.list(), ...environments.list(), ...nodes.list()])
    expect(text).toContain(`adopts ${id} (exists already; nothing is created)`);
});

test("an import of a tether that has made reports pays for nothing, and neither does the update after it", async () => {
  const tether = (options: string): string => `
    const { TetherService } = require("pulumi-consortium");
    new TetherService("i", { tetherId: "t0import00", network: "rinkeby", intervalHours: 2, active: false }, ${options});`;
  const { service, stack } = await world("", {
    inline: true,
    plugin: true,
    ledger: false,
    tethers: [{ id: "t0import00" }],
  });
  const trade = await send(service, "POST", "/consortia", { name: "trade" });
  await send(service, "POST", `/consortia/${trade._id}/environments`, { provider: "geth", consensus_type: "poa" });
  const shown = { "": { network: "rinkeby", interval: 2, state: "inactive" }, "/reportCount": 7 };
  for (const [end, body] of Object.entries(shown))
    service.faults.add({
      kind: "status",
      status: 200,
      method: "GET",
      route: RegExp(`t0import00${end}$`),
      body,
      times: Infinity,
    });
  await send(service, "POST", "/tether/t0import00/targetNetwork", { network: "rinkeby" });
  for (const options of ['{ import: "t0import00" }', "{}"]) {
    stack.program(tether(options));
    expect((await stack.preview()).text).toContain("pays for a contract on rinkeby from its account, unless");
    expect(await failed(stack.up())).toMatch(/CONSORTIUM_NOT_DEPLOYED=t0import00@/);
  }
  expect(service.store.tethers.get("t0import00").fields).toMatchObject({ deployments: { rinkeby: 0 } });
});
