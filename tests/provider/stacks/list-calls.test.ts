import { AppCred, Consortium, Environment, Membership, Node, TetherService } from "../../../sdk";
import { type ServiceOptions } from "../../../service/index";
import { newProcess } from "../../support/service";
import { onBothAdapters } from "../../support/stacks";
import { ether, tetherId } from "../../support/tethered";

/** The network of examples/quickstart. */
function reference(): void {
  const consortium = new Consortium("coffee-trade", { description: "Who delivered which beans to whom" });
  const members = ["grower", "roaster"].map((name) => new Membership(name, { consortium }));
  const environment = new Environment("ledger", { consortium, provider: "quorum", consensusType: "raft" });
  const nodes = members.flatMap((membership, at) =>
    [1, 2].map((number) => new Node(`${["grower", "roaster"][at]}-${number}`, { environment, membership })),
  );
  for (const [at, membership] of members.entries())
    new AppCred(`${["grower", "roaster"][at]}-app`, { environment, membership });
  new TetherService("pin", { tetherId, network: "rinkeby", intervalHours: 1 }, { dependsOn: nodes });
}

/** Answers of a service that has only the calls of the specification. */
const specification = { extended: false, getById: false, listCredentials: 404 } as const;
const services: [string, ServiceOptions["answers"]][] = [
  ["all calls", {}],
  ["the specification's calls", specification],
  ["the specification's calls, and 403 for all others", { ...specification, gone: 403, listCredentials: 403 }],
  ["the specification's calls, and 405 for all others", { ...specification, listCredentials: 405 }],
  ["the calls of the hosted one", { like: "hosted" }],
];

onBothAdapters((make) => {
  test.each(services)(
    "on a service with %s, `up` of the reference network makes at most 40 calls, and a refresh 8",
    async (_, answers) => {
      const tethers = [{ id: tetherId, funds: { rinkeby: ether } }];
      const { stack, service, time, calls } = await make(undefined, { tethers, ...(answers && { answers }) });
      expect(await stack.up(reference)).toMatchObject({ errors: [] });
      const made = calls();
      time.pass(60_000);
      newProcess();
      expect(await stack.refresh()).toMatchObject({ errors: [] });
      const refreshed = calls();
      expect(service.store.nodes.list()).toHaveLength(4);
      expect([made.length <= 40 || made, refreshed.length <= 8 || refreshed]).toEqual([true, true]);
    },
  );
});
