import { holdsLedger } from "../../../provider/constants";
import { definitions } from "../../../provider/resources";
import { bases, type Collected, routeOf } from "../../support/bases";
import { world } from "../../support/lifecycle";
import { setEnvironment } from "../../support/service";

/* A create that takes real time, or longer than lists need: exactly one object afterwards. tests/reliability has each way to fail. */

const kinds = ["node", "environment", "appCred"] as const;

const requestTimeout = 0.25;
test.each<[Collected, number]>([...kinds.map((kind) => [kind, 2] as [Collected, number]), ["node", 1.5], ["node", 3]])(
  "%s: created once by a service that acts after %d times the client's time-out",
  async (kind, times) => {
    const { engine, service, net, time, count, said } = await world(kind);
    setEnvironment({ CONSORTIUM_REQUEST_TIMEOUT: String(requestTimeout) });
    time.pace = 0.3; // the service is slow in real time
    service.faults.add({ kind: "delay", ms: times * requestTimeout * 1000, method: "POST", route: routeOf(kind) });
    expect(await engine.up(bases[kind](net))).toEqual({ then: "created" });
    const seconds = holdsLedger(definitions[kind].type) ? 60 : 3;
    expect(said.join("\n")).toMatch(
      new RegExp(`no answer arrived within 0.25 s.* Looking for ${seconds} s for an object that it may`),
    );
    expect(await count()).toBe(1);
  },
);

test.each(["node", "membership"] as const)(
  "%s: sent again, and the name is taken by the object of the first attempt",
  async (kind) => {
    const { engine, service, net, time, count } = await world(kind);
    service.setTiming({ listLag: 4_000 });
    time.pass(9_000);
    service.faults.add({ kind: "resetAfter", method: "POST", route: routeOf(kind) });
    const taken = { kind: "status", status: 409, errorMessage: "The name is already in use." } as const;
    service.faults.add({ ...taken, method: "POST", route: routeOf(kind), nth: 2, times: Infinity });
    expect(await engine.up(bases[kind](net))).toEqual({ then: "created" });
    service.setTiming({ listLag: 0 });
    expect(await count()).toBe(1);
  },
);
