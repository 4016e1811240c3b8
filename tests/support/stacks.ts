import { Consortium, Environment, Membership } from "../../sdk";
import { type ServiceOptions } from "../../service/index";
import { type Adapter } from "./double/provider";
import { type Program, type Run, Stack } from "./double/stack";
import { newProcess, start, type Started } from "./service";

/* Stacks on both adapters: the program that most of them begin with, and assertions about a run. */

export interface Base {
  consortium: Consortium;
  membership: Membership;
  environment: Environment;
}

/** A program with a consortium, a member, a ledger, and what else it has. */
export const ledger =
  (more: (base: Base) => unknown = () => undefined, args: object = {}): Program =>
  () => {
    const consortium = new Consortium("c");
    const membership = new Membership("m", { consortium });
    const quorum = { consortium, provider: "quorum", consensusType: "ibft" } as const;
    more({ consortium, membership, environment: new Environment("e", { ...quorum, ...args }) });
  };

export interface Made extends Started {
  stack: Stack;
  /** The calls since the last look that change something. */
  writes: () => string[];
  /** An update of it in a process of its own, refreshed, changes exactly this, and another one nothing. */
  expectChanges: (program: Program, steps: string[]) => Promise<Run>;
  /** From here on, the stack has lost an object: it exists, but is not in the state. */
  forget: (...names: string[]) => void;
}

/** A service, and a stack that has run this program, if there is one. */
export type Make = (program?: Program, options?: ServiceOptions) => Promise<Made>;

/** The tests, on both adapters. */
export const onBothAdapters = (tests: (make: Make, adapter: Adapter) => void): void =>
  describe.each(["dynamic", "plugin"] as const)("%s", (adapter) => tests(makerOf(adapter), adapter));

/** The tests of rules that the core alone decides: once is enough. */
export const onOneAdapter = (tests: (make: Make) => void): void => tests(makerOf("plugin"));

const makerOf =
  (adapter: Adapter): Make =>
  async (program, options) => {
    const started = await start(options);
    const stack = new Stack(adapter);
    if (program) expect(await stack.up(program)).toMatchObject({ errors: [] });
    started.service.clearCalls();
    return {
      ...started,
      stack,
      writes: () => started.calls().filter((call) => !/^GET /.test(call)),
      forget: (...names) => void (stack.state = stack.state.filter(({ name }) => !names.includes(name))),
      expectChanges: async (program, steps) => {
        newProcess();
        const run = await stack.up(program, { refresh: true });
        expect([run.errors, run.changes.toSorted()]).toEqual([[], steps.toSorted()]);
        expect((await stack.up(program, { refresh: true })).changes).toEqual([]);
        return run;
      },
    };
  };
