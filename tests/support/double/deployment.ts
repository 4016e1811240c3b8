import pLimit from "p-limit";
import { isUnknown, unknown } from "../../../provider/core/values";
import { type Failed } from "../protocol";
import { type Adapter, type Provider, Providers } from "./provider";
import {
  dependents,
  fresh,
  inDeletionOrder,
  isDefault,
  isProvider,
  label,
  providerUrn,
  type Resource,
  Rows,
  type Wanted,
} from "./state";
import { Steps } from "./steps";
import { type Props } from "./wire";

/*
 * One run of the engine over the state of a stack, in the order of Pulumi's own (resource/deploy: step_generator.go, step.go,
 * deployment_executor.go): registrations are checked and compared one at a time, their steps run at the same time.
 */

export interface RunOptions {
  /** `--replace`: names of resources. */
  replace?: string[];
  /** Once this step is done, everything is killed: no process hears that the run has ended. */
  killed?: boolean;
  /** `--refresh`: reads all there is first, in the same run. */
  refresh?: boolean;
  /** Most steps at the same time. */
  parallel?: number;
  /** The release of Pulumi, of those in tools/lib/pulumi-cli.mjs. Default: the newest. */
  release?: "oldest";
}

/** The error after a failed step: the program only hears that the engine is going. */
export class Stopped extends Error {}

/** A registration that is wrong ends the run; those under way are waited for. */
class Bail extends Error {}

/** Pulumi ends so where only an old row of a resource, which waits for its deletion, needs what is replaced. The next run goes on. */
export const cannotRecreate = "cannot recreate a resource that doesn't exist";

type Step = () => Promise<void> | void;

export class Deployment {
  readonly errors: { name: string; message: string }[] = [];
  #failed = (): void => undefined;
  /** Settled with the first failure. */
  readonly failure = new Promise<void>((resolve) => (this.#failed = resolve));

  readonly #limit: ReturnType<typeof pLimit>;
  readonly #running = new Set<Promise<unknown>>();
  readonly #rows: Rows;
  readonly #providers: Providers;
  readonly #do: Steps;
  readonly #defaults = new Map<Adapter, Promise<string>>();
  /** URNs of the old state that the run has handled. */
  readonly #operated = new Set<string>();
  readonly #replaces = new Set<string>();
  readonly #pendingDeletes = new Set<Resource>();
  readonly #closing: (() => void)[] = [];
  #turn: Promise<unknown> = Promise.resolve();

  /** @param kept gets the state after each step, as a backend does */
  constructor(
    olds: readonly Resource[],
    kept: (state: Resource[]) => void,
    private readonly config: Props,
    preview: boolean,
    private readonly options: RunOptions = {},
  ) {
    this.#rows = new Rows(olds, kept);
    this.#providers = new Providers(this.#rows, (row, text) => void this.lines.push(`${row}: ${text}`));
    this.#do = new Steps(this.#rows, this.#providers, preview);
    this.#limit = pLimit(options.parallel ?? 16);
  }

  /** Steps, such as `create Node n1`, in the order in which they began. */
  get steps(): string[] {
    return this.#do.done;
  }

  get lines(): string[] {
    return this.#do.lines;
  }

  get failed(): boolean {
    return this.errors.length > 0;
  }

  fail(name: string, error: unknown): void {
    const { details, message } = error as Partial<Failed & Error>;
    this.errors.push({ name, message: details ?? message ?? String(error) });
    this.#failed();
  }

  /** Registers a resource: answers when its steps are done. @throws Stopped */
  async register(wanted: Wanted): Promise<Resource> {
    const [made, steps] = await this.#inTurn(wanted.name, () => this.#generate(wanted));
    return this.#chain(wanted.name, steps).then(() => made);
  }

  /** The default provider of an adapter: made with the first resource that names none. */
  defaultProvider(adapter: Adapter, version: string): Promise<string> {
    const made = this.#defaults.get(adapter) ?? this.#defaultProvider(adapter, version);
    this.#defaults.set(adapter, made);
    return made;
  }

  async #defaultProvider(adapter: Adapter, version: string): Promise<string> {
    const type = `pulumi:providers:${adapter === "plugin" ? "consortium" : "pulumi-nodejs"}`;
    const name = version === "" ? "default" : `default_${version.replaceAll(".", "_")}`;
    const settings = Object.entries(this.config).map(([key, value]) => [
      adapter === "plugin" ? key.replace(/^consortium:/, "") : key,
      value,
    ]);
    const urn = `urn:pulumi:test::double::${type}::${name}`;
    const made = await this.register({
      ...fresh({ urn, type, name }),
      custom: true,
      inputs: Object.fromEntries(settings) as Props,
      aliases: [],
    });
    return `${made.urn}::${made.id}`;
  }

  /** At the end of a program: deletes resources that it no longer has, and replaced ones. */
  async finish(): Promise<void> {
    await this.settled();
    if (this.failed) return;
    const condemned = await this.#inTurn("", () => this.#condemned()).catch(() => []);
    for (const group of inDeletionOrder(condemned)) {
      if (this.failed) return;
      await Promise.all(group.map((one) => this.#chain(one.name, [() => this.#do.remove(one)]).catch(() => undefined)));
    }
  }

  /** Reads all objects; those that are gone leave the state. */
  async refresh(): Promise<void> {
    await Promise.all(
      this.#rows.olds.map((one) => this.#chain(one.name, [() => this.#do.refresh(one)]).catch(() => undefined)),
    );
    this.#rows.forgetDropped();
  }

  async settled(): Promise<void> {
    await this.#turn.catch(() => undefined);
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }

  onClose(close: () => void): void {
    this.#closing.push(close);
  }

  close(): void {
    for (const close of this.#closing) close();
    this.#providers.close(this.options.killed !== true);
  }

  /** One registration at a time, in the order of their coming. */
  #inTurn<T>(name: string, generate: () => Promise<T> | T): Promise<T> {
    const turn = this.#turn.then(async () => {
      if (this.failed) throw new Stopped();
      try {
        return await generate();
      } catch (error) {
        if (!(error instanceof Stopped)) this.fail(name, error);
        throw new Stopped();
      }
    });
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  /** Steps one after another; none begins after a failure, and those that run are left to end. */
  #chain(name: string, steps: readonly Step[]): Promise<void> {
    const run = this.#limit(async () => {
      for (const step of steps) {
        if (this.failed) throw new Stopped();
        try {
          await step();
        } catch (error) {
          this.fail(name, error);
          throw new Stopped();
        } finally {
          this.#rows.keep();
        }
      }
    });
    this.#running.add(run);
    void run.catch(() => undefined).finally(() => this.#running.delete(run));
    return run;
  }

  async #generate(wanted: Wanted): Promise<[Resource, Step[]]> {
    const made = fresh(wanted);
    const old = [made.urn, ...wanted.aliases]
      .map((urn) => this.#rows.olds.find((one) => one.urn === urn && !one.delete && !this.#rows.dropped.has(one)))
      .find((one) => one !== undefined);
    const recreating = this.#rows.deletes.has(old?.urn ?? made.urn);
    this.#operated.add(made.urn);
    if (old) this.#operated.add(old.urn);

    if (isProvider(made)) return this.#generateProvider(made, old);
    if (!made.custom) return [made, [() => (old ? this.#do.same(old, made) : this.#do.create(made))]];

    const provider = await this.#providers.of(made.provider);
    if (old) for (const key of made.ignoreChanges) if (key in old.inputs) made.inputs[key] = old.inputs[key];
    const asked = { ...made.inputs };
    const replaceTarget = this.options.replace?.includes(made.name) ?? false;
    const olds = recreating || replaceTarget ? undefined : old?.inputs;
    await this.#check(provider, made, olds, asked);

    if (recreating) {
      if (!old) throw new Bail(cannotRecreate);
      this.#rows.deletes.delete(old.urn);
      this.#replaces.add(made.urn);
      return [made, [() => this.#do.create(made, old)]];
    }
    if (!old) return [made, [() => this.#do.create(made)]];

    // The provider is not asked.
    const forced = replaceTarget ? "id" : this.#goesWith(made, this.#replaces) ? "deletedWith" : undefined;
    const diff = forced
      ? { changes: true, replaces: [forced], deleteBeforeReplace: false }
      : await provider.diff(made.urn, old.id, old.outputs, made.inputs);
    if ((diff.changes && diff.replaces.length > 0) || old.pendingReplacement) {
      this.#replaces.add(made.urn);
      // Defaults that came from the old one go: it is checked again, as a new one.
      if (!replaceTarget) await this.#check(provider, made, undefined, asked);
      return [made, await this.#replacement(made, old, diff.deleteBeforeReplace)];
    }
    if (diff.changes || old.initErrors.length > 0) return [made, [() => this.#do.update(made, old)]];
    return [made, [() => this.#do.same(old, made)]];
  }

  async #check(provider: Provider, made: Resource, olds: Props | undefined, news: Props): Promise<void> {
    const { inputs, failures } = await provider.check(made.urn, olds, news);
    if (failures.length > 0)
      throw new Bail(failures.map(({ property, reason }) => (property ? `${property}: ${reason}` : reason)).join("; "));
    made.inputs = inputs;
  }

  async #replacement(made: Resource, old: Resource, saidFirst: boolean): Promise<Step[]> {
    const create = (): Promise<void> => this.#do.create(made, old);
    if (!(made.deleteBeforeReplace ?? saidFirst)) return [create];
    const all = new Set([...(await this.#replacedWith(old)), ...this.#tiedTo(old)].toReversed());
    const first = [...all].filter((one) => this.#isOldest || !one.pendingReplacement);
    for (const one of [...first, old]) this.#pendingDeletes.add(one);
    for (const { urn } of first) this.#rows.deletes.add(urn);
    if (!this.#isOldest && !old.pendingReplacement) this.#rows.deletes.add(old.urn);
    const pending = (one: Resource) => async (): Promise<void> => {
      await this.#do.delete(one);
      if (one.delete) this.#rows.dropped.add(one);
      else one.pendingReplacement = true;
    };
    return [...first, ...(old.pendingReplacement ? [] : [old])].map(pending).concat(create);
  }

  /** Pulumi 3.220 deletes again what an earlier run has, before it failed to replace it, and does not replace what only `deletedWith` ties. */
  get #isOldest(): boolean {
    return this.options.release === "oldest";
  }

  #goesWith = (one: Resource, replaced: ReadonlySet<string>): boolean =>
    !this.#isOldest && replaced.has(one.deletedWith);

  /** Those that the option `deletedWith` replaces with it, wherever their values come from. */
  #tiedTo({ urn }: Resource): Resource[] {
    const there = this.#rows.left.filter((one) => !one.delete && !this.#pendingDeletes.has(one));
    return there.filter((one) => this.#goesWith(one, new Set([urn])));
  }

  /** Dependents that would be replaced, too: the engine deletes them first. */
  async #replacedWith(root: Resource): Promise<Resource[]> {
    const replaced = new Set([root.urn]);
    const found: Resource[] = [];
    const there = this.#rows.left.filter((one) => !this.#pendingDeletes.has(one));
    for (const one of dependents(there, [root.urn], { children: false })) {
      if (!one.custom || this.#operated.has(one.urn)) continue;
      const open = Object.keys(one.inputs).filter((key) =>
        one.propertyDependencies[key]?.some((urn) => replaced.has(urn)),
      );
      const byOther = replaced.has(providerUrn(one.provider)) || this.#goesWith(one, replaced);
      if (open.length === 0 && !byOther) continue;
      const news = { ...one.inputs, ...Object.fromEntries(open.map((key) => [key, unknown])) };
      const provider = await this.#providers.of(one.provider);
      if (!byOther && (await provider.diff(one.urn, one.id, one.outputs, news)).replaces.length === 0) continue;
      replaced.add(one.urn);
      found.push(one);
    }
    return found;
  }

  async #generateProvider(made: Resource, old: Resource | undefined): Promise<[Resource, Step[]]> {
    const provider = this.#providers.start(made);
    const failures = await provider.checkConfig(made.urn, made.inputs);
    if (failures.length > 0) throw new Bail(failures.map(({ reason }) => reason).join("; "));
    made.id = old?.id ?? `id-of-${made.name}`;
    const { changes } = old ? await provider.diffConfig(made.urn, old.inputs, made.inputs) : { changes: true };
    const configure = async (): Promise<void> => {
      // One that the run has refreshed with stays, unless it changes.
      if (changes || !this.#providers.isConfigured(made)) {
        if (!isUnknown(made.inputs)) await provider.configure(made.urn, made.inputs);
        this.#providers.configured(made, provider);
      }
      made.outputs = made.inputs;
      if (old) this.#rows.dropped.add(old);
      if (!isDefault(made)) this.#do.done.push(`${!old ? "create" : changes ? "update" : "same"} ${label(made)}`);
      this.#rows.add(made);
    };
    return [made, [configure]];
  }

  /** Deletions at the end: replaced resources, and those that the program does not have. */
  #condemned(): Resource[] {
    const left = this.#rows.left.filter((one) => !(one.delete && this.#pendingDeletes.has(one)));
    const condemned = left.filter((one) => one.delete || !this.#operated.has(one.urn));
    for (const { urn } of condemned) this.#rows.deletes.add(urn);
    return condemned;
  }
}
