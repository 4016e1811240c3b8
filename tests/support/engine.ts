import { type Handler } from "../../provider/dynamic/host";
import { type definitions } from "../../provider/resources";
import * as runtime from "../../provider/dynamic/runtime";
import { stub } from "../../provider/constants";
import { type Props, revealed, wire } from "./double/wire";

export { type Props };
export type Kind = keyof typeof definitions;

/** How Pulumi writes a value that is not known yet. */
export const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

export type Outcome =
  | { then: "created" | "updated" | "same" }
  | { then: "replaced"; replaces: string[]; deletedFirst: boolean }
  | { then: "refused"; failures: { property: string; reason: string }[] }
  | { then: "failed"; error: string }
  | { then: "incomplete"; error: string };

/** The outcome of a verb that failed with this message. */
export const failed = (why: string | RegExp): Outcome => ({
  then: "failed",
  error: (typeof why === "string" ? expect.stringContaining(why) : expect.stringMatching(why)) as string,
});

export const errorOf = (outcome: Outcome): string => (outcome as { error: string }).error;

/** The state of one resource, as a Pulumi stack keeps it. */
export interface Kept {
  id: string;
  inputs: Props;
  outputs: Props;
  incomplete: boolean;
}

/** Plays the Pulumi engine for one resource of a stack: the order of verbs, and the state. */
export class Engine {
  kept?: Kept;
  readonly #handler: Handler;
  readonly #provider: string;

  constructor(kind: Kind) {
    this.#handler = runtime[kind];
    this.#provider = stub(kind);
  }

  get outputs(): Props {
    return this.kept?.outputs ?? {};
  }

  /** The lines of a preview, which does nothing. */
  async preview(args: Props): Promise<Outcome> {
    const checked = await this.#check(args);
    if ("then" in checked) return checked;
    return (await this.#plan(checked.inputs)) ?? { then: "created" };
  }

  async up(args: Props): Promise<Outcome> {
    const checked = await this.#check(args);
    if ("then" in checked) return checked;
    const { inputs } = checked;
    const plan = await this.#plan(inputs).catch(({ message }: Error): Outcome => ({ then: "failed", error: message }));
    if (plan?.then === "same" || plan?.then === "failed") return plan;
    if (!plan) return this.#keeping(inputs, () => this.#create(inputs), { then: "created" });
    if (plan.then === "updated") return this.#keeping(inputs, () => this.#update(inputs), plan);
    const old = this.kept!;
    const remove = (): Promise<void> => this.#handler.delete(old.id, wire(old.outputs));
    return this.#keeping(
      inputs,
      async () => {
        if (plan.then === "replaced" && plan.deletedFirst) await remove();
        await this.#create(inputs);
        if (plan.then === "replaced" && !plan.deletedFirst) await remove();
      },
      plan,
    );
  }

  /** Whether an update to these inputs would change anything. */
  async differs(inputs: Props): Promise<boolean> {
    const { id, outputs } = this.kept!;
    return (await this.#handler.diff(id, wire(outputs), wire(inputs))).changes === true;
  }

  /** Reads the object and keeps the result; "gone" drops it from the state. */
  async refresh(): Promise<"gone" | "there"> {
    const { id, outputs } = this.kept!;
    const { id: found, props, inputs } = await this.#handler.read(id, wire(outputs));
    if (found === "") {
      delete this.kept;
      return "gone";
    }
    const provider = { __provider: this.#provider };
    this.kept = {
      id: found,
      // Like the real one: the program's inputs stay if a refresh returns none.
      inputs: inputs ? wire({ ...inputs, ...provider }) : this.kept!.inputs,
      outputs: wire({ ...props, ...provider }),
      incomplete: false,
    };
    return "there";
  }

  async destroy(): Promise<void> {
    const { id, outputs } = this.kept!;
    await this.#handler.delete(id, wire(outputs));
    delete this.kept;
  }

  async #check(args: Props): Promise<Outcome | { inputs: Props }> {
    const given = Object.entries({ ...args, __provider: this.#provider }).filter(([, value]) => value !== undefined);
    const news = wire(Object.fromEntries(given));
    const { inputs, failures } = await this.#handler.check(this.kept?.inputs ?? {}, news);
    if (failures.length > 0) return { then: "refused", failures };
    return { inputs: wire({ ...revealed(inputs), __provider: this.#provider }) };
  }

  async #plan(inputs: Props): Promise<Outcome | undefined> {
    if (!this.kept) return undefined;
    const { id, outputs } = this.kept;
    const { changes, replaces, deleteBeforeReplace } = await this.#handler.diff(id, wire(outputs), wire(inputs));
    if (typeof changes !== "boolean") throw new Error("diff must say whether there are changes");
    if (replaces.length > 0) return { then: "replaced", replaces, deletedFirst: deleteBeforeReplace };
    return { then: changes ? "updated" : "same" };
  }

  async #create(inputs: Props): Promise<void> {
    const { id, outs } = await this.#handler.create(wire(inputs));
    this.#keep(id, inputs, { ...outs, __provider: inputs.__provider });
  }

  async #update(inputs: Props): Promise<void> {
    const { id, outputs } = this.kept!;
    const { outs } = await this.#handler.update(id, wire(outputs), wire(inputs));
    this.#keep(id, inputs, { ...outs, __provider: inputs.__provider });
  }

  #keep(id: string, inputs: Props, outputs: Props, incomplete = false): void {
    this.kept = { id, inputs, outputs: wire(outputs), incomplete };
  }

  /** A verb that fails keeps nothing, unless the error says that an object exists. */
  async #keeping(inputs: Props, verb: () => Promise<void>, then: Outcome): Promise<Outcome> {
    try {
      await verb();
      return then;
    } catch (failure) {
      const { message, id, properties, reasons } = failure as Error & { id?: string; properties?: Props } & {
        reasons?: string[];
      };
      if (id === undefined) return { then: "failed", error: message };
      if (!properties || !reasons?.length)
        throw new Error("an incomplete resource needs properties and reasons", { cause: failure });
      this.#keep(id, inputs, properties, true);
      return { then: "incomplete", error: message };
    }
  }
}
