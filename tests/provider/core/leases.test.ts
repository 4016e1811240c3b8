import { Leases } from "../../../provider/core/leases";
import { virtualTime } from "../../support/virtual-time";

/* Which resource has which object: provider/stacks/handover has the rest, with whole stacks. */

test.each([
  ["has ended", 0, 0],
  ["goes on for a second", 1_000, 1_300],
  ["goes on without end", 30_000, 3_000],
])(
  "what adopts waits for the owner of an object while the program, which %s, registers",
  async (_, forMs, expected) => {
    const time = virtualTime();
    const owners = new Leases();
    for (let at = forMs === 0 ? Infinity : 0; at <= forMs; at += 200) time.after(at, () => owners.engineAsked(time));
    if (forMs > 0) owners.engineAsked(time);
    await owners.allDeclared(time);
    expect(time.now()).toBe(expected);
  },
);
