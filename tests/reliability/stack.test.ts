import fc from "fast-check";
import { cannotRecreate } from "../support/double/deployment";
import { type Adapter } from "../support/double/provider";
import { type Run, Stack } from "../support/double/stack";
import { network } from "../support/network";
import { random } from "../support/random";
import { start, type Started } from "../support/service";
import { differences, disconnect, everything, idsOf, meddle } from "./model";
import { event, type Event, type Fault, programOf, type Shape, shape, type Spec, specsOf } from "./shapes";

/* Random lives of a stack. */

const lives = random(12, 68);
const adapters = fc.constantFrom<Adapter[]>("dynamic", "plugin");
/** Long enough for lists to catch up: people do not follow on faster. */
const pauseMs = 3_000;

let here: Started;
beforeEach(async () => {
  here = await start({ limits: { consortia: 100, environments: 100, nodes: 100 } });
  await network(here.service, here.time); // of other people
});

/** A failed life leaves nothing for the next one to stumble over. */
async function isolated(adapter: Adapter, events: Event[], last: Shape, listLag: number): Promise<void> {
  const { service } = here;
  const before = new Set(idsOf(service, new Set()));
  service.setTiming({ listLag });
  try {
    await live(new Stack(adapter), before, events, last);
  } finally {
    service.faults.clear();
    const left = service.store.consortia.list().filter(({ id }) => !before.has(id));
    for (const { id } of left) service.store.consortia.remove(id);
    await disconnect();
  }
}

async function live(stack: Stack, before: ReadonlySet<string>, events: Event[], last: Shape): Promise<void> {
  const { service, time } = here;
  const others = everything(service);
  /** Whether somebody changed something that no refresh has seen yet: then a run may fail. */
  let unseen = false;

  /**
   * A replacement that failed leaves its object in the state, to be deleted, with its name: a later program that wants it is refused. And
   * Pulumi itself may fail once on such a row.
   */
  const up = async (specs: readonly Spec[]): Promise<Run> => {
    const run = await stack.up(programOf(specs));
    const all = (isSo: (message: string) => boolean): boolean =>
      run.errors.length > 0 && run.errors.every(({ message }) => isSo(message));
    if (all((message) => message === cannotRecreate)) return stack.up(programOf(specs));
    const leaving = stack.state.filter((one) => one.delete).map(({ id }) => `The name is already taken by ${id}.`);
    if (!all((message) => leaving.some((one) => message.includes(one)))) return run;
    expect(await stack.destroy()).toMatchObject({ errors: [] });
    return stack.up(programOf(specs));
  };
  const during = async (fault: Fault | undefined, run: () => Promise<Run>): Promise<void> => {
    if (fault) service.faults.add({ ...fault.rule, nth: fault.nth });
    const { errors } = await run();
    service.faults.clear();
    if (!unseen) expect(errors).toEqual([]);
  };
  const refresh = (): Promise<Run> => {
    unseen = false;
    return stack.refresh();
  };

  for (const [turn, happening] of events.entries()) {
    time.pass(pauseMs);
    switch (happening.do) {
      case "up": {
        if (happening.refresh) await during(undefined, refresh);
        const specs = specsOf(happening.shape);
        await during(happening.fault, () => up(specs));
        time.pass(pauseMs);
        if (!unseen) expect(await differences(service, stack, specs, before)).toEqual([]);
        break;
      }
      case "refresh":
        await during(happening.fault, refresh);
        break;
      case "destroy":
        await during(happening.fault, () => stack.destroy());
        if (!unseen) expect(idsOf(service, before)).toEqual([]);
        break;
      case "remote change":
      case "remote deletion":
        meddle(service, stack, happening.which, happening.do === "remote change" ? "change" : "deletion", turn);
        unseen = true;
    }
  }

  time.pass(pauseMs);
  expect(await refresh()).toMatchObject({ errors: [] });
  const specs = specsOf(last);
  expect(await up(specs)).toMatchObject({ errors: [] });
  time.pass(pauseMs);
  expect(await stack.refresh()).toMatchObject({ errors: [] });
  expect(await differences(service, stack, specs, before, true)).toEqual([]);
  expect(await stack.destroy()).toMatchObject({ errors: [] });
  expect(idsOf(service, before)).toEqual([]);
  expect(everything(service)).toEqual(others);
}

test(
  "whatever happens to a stack, in the end program, state and service agree, and destroy leaves nothing",
  async () => {
    const property = fc.asyncProperty(
      adapters,
      fc.array(event, { maxLength: 6 }),
      shape,
      fc.constantFrom(0, 900),
      isolated,
    );
    await fc.assert(property, lives);
  },
  lives.numRuns * 12_000,
);
