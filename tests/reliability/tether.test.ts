import fc from "fast-check";
import { tetherNetworks as networks } from "../../provider/constants";
import { Engine } from "../support/engine";
import { random } from "../support/random";
import { newProcess, setEnvironment } from "../support/service";
import { ether, tetherArgs, tethered } from "../support/tethered";
import { fault } from "./shapes";
import { disconnect } from "./model";

/* Random lives of a tether service: its deployment costs money, so there is one for each network at most. */

const turn = fc.record({
  network: fc.constantFrom(...networks),
  intervalHours: fc.integer({ min: 1, max: 3 }),
  active: fc.boolean(),
  fault: fc.option(fault, { nil: undefined }),
});

test("whatever happens to a tether, it is set as the program says, and each contract is paid for once", async () => {
  const tethers = Array.from({ length: 3000 }, (_, at) => `tether${String(at + 1).padStart(4, "0")}`);
  const funds = { rinkeby: ether, mainnet: ether };
  const { service } = await tethered({ tethers: tethers.map((id) => ({ id, funds })) });
  let next = 0;

  const property = fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 5 }), async (turns) => {
    const id = tethers[next++ % tethers.length]!;
    const fields = () => service.store.tethers.get(id).fields;
    const engine = new Engine("tetherService");
    const used = new Set<string>();
    for (const { fault, ...settings } of turns) {
      newProcess();
      if (fault) service.faults.add({ ...fault.rule, nth: 1 + (fault.nth % 8) });
      const args = { ...tetherArgs, tetherId: id, ...settings };
      let outcome = await engine.up(args);
      service.faults.clear();
      if (outcome.then === "incomplete") {
        // Nobody can know that it was not deployed; who has looked says so.
        expect(fields().deployments[settings.network]).toBe(0);
        const [, word] = /CONSORTIUM_NOT_DEPLOYED=(\S+)/.exec(outcome.error)!;
        setEnvironment({ CONSORTIUM_NOT_DEPLOYED: word });
        outcome = await engine.up(args);
      }
      expect(["created", "updated", "same"]).toContain(outcome.then);
      used.add(settings.network);
      const { network, interval, active, deployments } = fields();
      expect({ network, interval, active }).toEqual({
        network: settings.network,
        interval: settings.intervalHours,
        active: settings.active,
      });
      expect(deployments).toEqual(Object.fromEntries(networks.map((name) => [name, Number(used.has(name))])));
    }
    await engine.destroy();
    await disconnect();
    expect(fields().active).toBe(false);
  });
  await fc.assert(property, random(20, 68));
});
