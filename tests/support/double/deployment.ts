import { isDeepStrictEqual } from "node:util";
import pLimit from "p-limit";
import { isUnknown, unknown } from "../../../provider/core/values";
import { type Failed } from "../protocol";
import { type Adapter, type Issue, type Provider, startProvider } from "./provider";
import {
  dependents,
  fresh,
  inDeletionOrder,
  isDefault,
  isProvider,
  label,
  marked,
  providerUrn,
  type Resource,
  type Wanted,
} from "./state";
import { type Props } from "./wire";

/*
 * One run of the engine over the state of a stack, in the order of Pulumi's own (resource/deploy: step_generator.go, step.go,
 * deployment_executor.go): registrations are checked and compared one at a time, their steps run at the same time.
 */

export interface RunOptions {
  /** Names of resources: `--target`, and whether with `--target-dependents`; and `--replace`. */
  targets?: string[];
  dependents?: boolean;
  replace?: string[];
  /** Once it is through, everything is killed: no process hears that the run has ended. */
  killed?: boolean;
  /** `--refresh`: reads all there is first, in the same run. */
  refresh?: boolean;
  /** Most steps at the same time. */
  parallel?: number;
  /** `--plan`: what a preview has planned. */
  plan?: Plan;
}

/** The inputs of resources that a preview has checked, by URN. What is unknown there may become anything. */
export type Plan = Map<string, Props>;

/** What a failed step tells nobody any more: the program hears that the engine is going. */
export class Stopped extends Error {}

/** A registration that is wrong ends the run; those under way are waited for. */
class Bail extends Error {}

/** Pulumi 3.220 ends so where only an old row of a resource, which waits for its deletion, needs what is replaced. The next run goes on. */
export const cannotRecreate = "cannot recreate a resource that doesn't exist";

type Step = () => Promise<void> | void;

export class Deployment {
  /** What was done, such as `create Node n1`, in the order of the beginnings. */
  readonly steps: string[] = [];
  readonly errors: { name: string; message: string }[] = [];
  readonly lines: string[] = [];
  readonly plan: Plan = new Map();
  #failed = (): void => undefined;
  /** Settled with the first failure. */
  readonly failure = new Promise<void>((resolve) => (this.#failed = resolve));

  readonly #limit: ReturnType<typeof pLimit>;
  readonly #running = new Set<Promise<unknown>>();
  /** All that run, those included whose configuration was refused. */
  readonly #started: Provider[] = [];
  readonly #providers = new Map<string, Promise<Provider>>();
  readonly #defaults = new Map<Adapter, Promise<string>>();
  readonly #news: Resource[] = [];
  /** Of the old state, what is not there any more. */
  readonly #dropped = new Set<Resource>();
  /** URNs, of the old state, that the run has dealt with. */
  readonly #operated = new Set<string>();
  readonly #deletes = new Set<string>();
  /** URNs of what would be made, and is no target. */
  readonly #skipped = new Set<string>();
  readonly #pendingDeletes = new Set<Resource>();
  readonly #closing: (() => void)[] = [];
  #olds: Resource[];
  #turn: Promise<unknown> = Promise.resolve();

  /** @param kept gets the state after each step, as a backend does */
  constructor(
    olds: readonly Resource[],
    private readonly kept: (state: Resource[]) => void,
    private readonly config: Props,
    private readonly preview: boolean,
    private readonly options: RunOptions = {},
  ) {
    this.#olds = olds.map((one) => ({ ...one }));
    this.#limit = pLimit(options.parallel ?? 16);
  }

  get failed(): boolean {
    return this.errors.length > 0;
  }

  state(): Resource[] {
    const made = this.#news.filter(({ urn }) => !this.#skipped.has(urn));
    return [...made, ...this.#olds.filter((one) => !this.#dropped.has(one))];
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

  /** Reads what the stack does not manage. */
  async read(wanted: Wanted, id: string): Promise<Resource> {
    return this.#inTurn(wanted.name, async () => {
      const made: Resource = { ...fresh(wanted), id, external: true };
      this.#operated.add(made.urn);
      if (!isUnknown(id)) {
        const provider = await this.#provider(wanted.provider);
        this.steps.push(`read ${label(made)}`);
        const found = await provider.read(made.urn, id, wanted.inputs, {});
        if (found.id === "") throw new Bail(`resource '${id}' does not exist`);
        Object.assign(made, { id: found.id, outputs: marked(made, found.outs) });
      }
      this.#add(made);
      return made;
    });
  }

  async invoke(token: string, args: Props, reference: string): Promise<{ result: Props; failures: Issue[] }> {
    return (await this.#provider(reference)).invoke(token, args);
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

  /** At the end of a program: deletes what it does not have any more, and what was replaced. */
  async finish(): Promise<void> {
    await this.settled();
    if (this.failed) return;
    const condemned = await this.#inTurn("", () => this.#condemned()).catch(() => []);
    for (const group of inDeletionOrder(condemned)) {
      if (this.failed) return;
      await Promise.all(group.map((one) => this.#chain(one.name, [() => this.#remove(one)]).catch(() => undefined)));
    }
  }

  /** Reads all that is there; what is gone leaves the state. */
  async refresh(): Promise<void> {
    const chosen = this.#olds.filter(({ name }) => this.options.targets?.includes(name) ?? true);
    await Promise.all(chosen.map((one) => this.#chain(one.name, [() => this.#refresh(one)]).catch(() => undefined)));
    const gone = new Set(this.#olds.filter((one) => this.#dropped.has(one)).map(({ urn }) => urn));
    this.#olds = this.#olds.filter((one) => !this.#dropped.has(one));
    for (const one of this.#olds) {
      one.dependencies = one.dependencies.filter((urn) => !gone.has(urn));
      for (const [key, urns] of Object.entries(one.propertyDependencies))
        one.propertyDependencies[key] = urns.filter((urn) => !gone.has(urn));
    }
    this.kept(this.state());
  }

  async cancel(): Promise<void> {
    this.fail("", new Error("the run was cancelled"));
    const running = await Promise.all(this.#providers.values());
    await Promise.all(running.map((provider) => provider.cancel()));
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
    for (const provider of this.#started) provider.close(this.options.killed !== true);
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
          this.kept(this.state());
        }
      }
    });
    this.#running.add(run);
    void run.catch(() => undefined).finally(() => this.#running.delete(run));
    return run;
  }

  #add(made: Resource): void {
    this.#news.push(made);
    this.kept(this.state());
  }

  async #generate(wanted: Wanted): Promise<[Resource, Step[]]> {
    const made = fresh(wanted);
    const old = [made.urn, ...wanted.aliases]
      .map((urn) => this.#olds.find((one) => one.urn === urn && !one.delete && !this.#dropped.has(one)))
      .find((one) => one !== undefined);
    const recreating = this.#deletes.has(old?.urn ?? made.urn);
    this.#operated.add(made.urn);
    if (old) this.#operated.add(old.urn);

    if (isProvider(made)) return this.#generateProvider(made, old);
    if (!made.custom) return [made, [() => (old ? this.#same(old, made, made.inputs) : this.#create(made))]];

    if (!this.#isTargeted(made)) return [made, [() => (old ? this.#same(old, made, old.inputs) : this.#skip(made))]];
    const skipped = this.#news.find((one) => this.#skipped.has(one.urn) && dependents([made], [one.urn]).length > 0);
    if (skipped)
      throw new Bail(`Resource "${made.urn}" depends on "${skipped.urn}" which was not specified in --target list.`);

    const provider = await this.#provider(made.provider);
    const { importId = "" } = wanted;
    if (importId !== "" && (!old || old.external)) return [made, [() => this.#import(made, importId, provider, old)]];
    if (old) for (const key of made.ignoreChanges) if (key in old.inputs) made.inputs[key] = old.inputs[key];
    const asked = { ...made.inputs };
    const replaceTarget = this.options.replace?.includes(made.name) ?? false;
    const olds = recreating || replaceTarget || old?.external ? undefined : old?.inputs;
    await this.#check(provider, made, olds, asked);

    if (recreating) {
      if (!old) throw new Bail(cannotRecreate);
      this.#deletes.delete(old.urn);
      return [made, [() => this.#create(made, old)]];
    }
    if (!old || old.external) return [made, [() => this.#create(made, old)]];

    const diff = replaceTarget
      ? { changes: true, changed: [], replaces: ["id"], deleteBeforeReplace: false }
      : await provider.diff(made.urn, old.id, old.outputs, made.inputs);
    const replaces = [...diff.replaces, ...diff.changed.filter((key) => made.replaceOnChanges.includes(key))];
    if ((diff.changes && replaces.length > 0) || old.pendingReplacement) {
      if (made.protect && old.protect) throw new Bail(`unable to replace resource "${made.urn}": it is protected`);
      // Defaults that came from the old one go: it is checked again, as a new one.
      if (!replaceTarget) await this.#check(provider, made, undefined, asked);
      return [made, await this.#replacement(made, old, diff.deleteBeforeReplace)];
    }
    if (diff.changes || old.initErrors.length > 0) return [made, [() => this.#update(made, old)]];
    return [made, [() => this.#same(old, made)]];
  }

  async #check(provider: Provider, made: Resource, olds: Props | undefined, news: Props): Promise<void> {
    const { inputs, failures } = await provider.check(made.urn, olds, news);
    if (failures.length > 0)
      throw new Bail(failures.map(({ property, reason }) => (property ? `${property}: ${reason}` : reason)).join("; "));
    made.inputs = inputs;
    this.plan.set(made.urn, inputs);
    if (!this.options.plan) return;
    const planned = this.options.plan.get(made.urn);
    if (!planned) throw new Bail(`resource ${made.urn} violates plan: it is not in it`);
    const wrong = Object.keys({ ...planned, ...inputs }).filter(
      (key) => !isUnknown(planned[key]) && !isDeepStrictEqual(planned[key], inputs[key]),
    );
    if (wrong.length > 0) throw new Bail(`resource ${made.urn} violates plan: properties changed: ${wrong.join(", ")}`);
  }

  /** Takes an object that the service has, then makes of it what the program says. */
  async #import(made: Resource, id: string, provider: Provider, old: Resource | undefined): Promise<void> {
    this.steps.push(`import ${label(made)}`);
    const found = await provider.read(made.urn, id, {}, {});
    if (found.id === "") throw new Error(`resource '${id}' does not exist`);
    await this.#check(provider, made, found.inputs, made.inputs);
    const taken = { ...made, id: found.id, inputs: found.inputs ?? {}, outputs: marked(made, found.outs) };
    if (old) this.#dropped.add(old);
    const { changes } = await provider.diff(made.urn, taken.id, taken.outputs, made.inputs);
    if (changes) return this.#update(made, taken);
    this.#add(Object.assign(made, taken, { inputs: made.inputs }));
  }

  async #replacement(made: Resource, old: Resource, saidFirst: boolean): Promise<Step[]> {
    const create = (): Promise<void> => this.#create(made, old);
    if (!(made.deleteBeforeReplace ?? saidFirst)) return [create];
    const first = await this.#replacedWith(old);
    for (const one of [...first, old]) this.#pendingDeletes.add(one);
    for (const { urn } of first) this.#deletes.add(urn);
    const pending = (one: Resource) => async (): Promise<void> => {
      await this.#delete(one);
      if (one.delete) this.#dropped.add(one);
      else one.pendingReplacement = true;
    };
    return [...first.toReversed(), ...(old.pendingReplacement ? [] : [old])].map(pending).concat(create);
  }

  /** Those that would be replaced, too, if what they need were another: the engine deletes them before it. */
  async #replacedWith(root: Resource): Promise<Resource[]> {
    const replaced = new Set([root.urn]);
    const found: Resource[] = [];
    const there = this.#olds.filter((one) => !this.#dropped.has(one) && !this.#pendingDeletes.has(one));
    for (const one of dependents(there, [root.urn], { children: false })) {
      if (!one.custom || one.external || this.#operated.has(one.urn)) continue;
      const open = Object.keys(one.inputs).filter((key) =>
        one.propertyDependencies[key]?.some((urn) => replaced.has(urn)),
      );
      const byProvider = replaced.has(providerUrn(one.provider));
      if (open.length === 0 && !byProvider) continue;
      const news = { ...one.inputs, ...Object.fromEntries(open.map((key) => [key, unknown])) };
      const provider = await this.#provider(one.provider);
      if (!byProvider && (await provider.diff(one.urn, one.id, one.outputs, news)).replaces.length === 0) continue;
      if (one.protect)
        throw new Bail(`unable to replace resource "${one.urn}" as part of replacing "${root.urn}": it is protected`);
      replaced.add(one.urn);
      found.push(one);
    }
    return found;
  }

  async #generateProvider(made: Resource, old: Resource | undefined): Promise<[Resource, Step[]]> {
    const provider = this.#start(made);
    const failures = await provider.checkConfig(made.urn, made.inputs);
    if (failures.length > 0) throw new Bail(failures.map(({ reason }) => reason).join("; "));
    made.id = old?.id ?? `id-of-${made.name}`;
    const { changes } = old ? await provider.diffConfig(made.urn, old.inputs, made.inputs) : { changes: true };
    const configure = async (): Promise<void> => {
      if (!isUnknown(made.inputs)) await provider.configure(made.urn, made.inputs);
      this.#providers.set(`${made.urn}::${made.id}`, Promise.resolve(provider));
      made.outputs = made.inputs;
      if (old) this.#dropped.add(old);
      if (!isDefault(made)) this.steps.push(`${!old ? "create" : changes ? "update" : "same"} ${label(made)}`);
      this.#add(made);
    };
    return [made, [configure]];
  }

  #start({ type }: Resource): Provider {
    const started = startProvider(
      type.endsWith(":consortium") ? "plugin" : "dynamic",
      (row, text) => void this.lines.push(`${row}: ${text}`),
    );
    this.#started.push(started);
    return started;
  }

  /** One process for each provider of the run; one that the program has not registered starts with what the state says. */
  async #provider(reference: string): Promise<Provider> {
    const found = this.#providers.get(reference);
    if (found) return found;
    const old = this.#olds.find(({ urn, id }) => `${urn}::${id}` === reference);
    if (!old) throw new Error(`no provider ${reference}`);
    const provider = this.#start(old);
    const starting = provider.configure(old.urn, old.inputs).then(() => provider);
    this.#providers.set(reference, starting);
    return starting;
  }

  #isTargeted({ name }: Resource): boolean {
    return this.options.targets?.includes(name) ?? true;
  }

  /** Not made: the program hears nothing of it that is known. */
  #skip(made: Resource): void {
    this.#skipped.add(made.urn);
    this.#news.push(Object.assign(made, { id: "", outputs: made.inputs }));
  }

  #same(old: Resource, made: Resource, inputs = made.inputs): void {
    this.steps.push(`same ${label(made)}`);
    Object.assign(made, { id: old.id, outputs: old.outputs, inputs, initErrors: made.custom ? old.initErrors : [] });
    this.#dropped.add(old);
    this.#add(made);
  }

  async #create(made: Resource, old?: Resource): Promise<void> {
    if (made.type !== "pulumi:pulumi:Stack") this.steps.push(`create ${label(made)}`);
    const replaced = (): void => {
      if (old?.pendingReplacement || old?.external) this.#dropped.add(old);
      else if (old) old.delete = true;
    };
    if (!made.custom) return this.#add(made);
    const provider = await this.#provider(made.provider);
    await this.#keeping(made, replaced, async () => {
      const options = { preview: this.preview, timeout: made.timeouts.create };
      const { id, outs } = await provider.create(made.urn, made.inputs, options);
      if (id === "" && !this.preview) throw new Error("provider did not return an ID from Create");
      Object.assign(made, { id, outputs: marked(made, outs) });
    });
  }

  async #update(made: Resource, old: Resource): Promise<void> {
    this.steps.push(`update ${label(made)}`);
    made.id = old.id;
    const provider = await this.#provider(made.provider);
    await this.#keeping(
      made,
      () => this.#dropped.add(old),
      async () => {
        const options = { preview: this.preview, timeout: made.timeouts.update };
        const { outs } = await provider.update(made.urn, old.id, old.outputs, made.inputs, options);
        made.outputs = marked(made, outs);
      },
    );
  }

  /** A step that fails keeps nothing, unless the error says that something is there. */
  async #keeping(made: Resource, replaced: () => void, act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      const { kept } = error as Failed;
      if (!kept) throw error;
      Object.assign(made, { id: kept.id, outputs: marked(made, kept.properties), initErrors: kept.reasons });
      replaced();
      this.#add(made);
      throw error;
    }
    replaced();
    this.#add(made);
  }

  async #remove(old: Resource): Promise<void> {
    if (old.protect && !old.delete) throw new Error(`${old.urn} cannot be deleted because it is protected`);
    if (!old.pendingReplacement) await this.#delete(old);
    this.#dropped.add(old);
  }

  async #delete(old: Resource): Promise<void> {
    if (isDefault(old) || old.type === "pulumi:pulumi:Stack") return;
    this.steps.push(`delete ${label(old)}`);
    if (this.preview || old.external || !old.custom || isProvider(old)) return;
    if (old.retainOnDelete || (old.deletedWith !== "" && this.#deletes.has(old.deletedWith))) return;
    const provider = await this.#provider(old.provider);
    await provider.delete(old.urn, old.id, old.outputs, { preview: false, timeout: old.timeouts.delete });
  }

  async #refresh(old: Resource): Promise<void> {
    if (!old.custom || isProvider(old) || old.pendingReplacement) return;
    const provider = await this.#provider(old.provider);
    this.steps.push(`refresh ${label(old)}`);
    try {
      const { id, outs, inputs } = await provider.read(old.urn, old.id, old.outputs, old.inputs);
      if (id === "") return void this.#dropped.add(old);
      Object.assign(old, { id, outputs: marked(old, outs), initErrors: [], ...(inputs && { inputs }) });
    } catch (error) {
      const { kept, details } = error as Failed;
      if (!kept) throw error;
      this.lines.push(`Refreshed resource is in an unhealthy state: ${details}`);
      Object.assign(old, { outputs: marked(old, kept.properties), initErrors: kept.reasons });
    }
  }

  /** What goes at the end: replaced ones, and those that the program does not have; only targets, and what needs them. */
  #condemned(): Resource[] {
    const { targets, dependents: isWithDependents = false } = this.options;
    const left = this.#olds.filter((one) => !this.#dropped.has(one) && !(one.delete && this.#pendingDeletes.has(one)));
    const all = [...this.#news, ...left];
    const roots = all.filter(({ name }) => targets?.includes(name)).map(({ urn }) => urn);
    const allowed = new Set([...roots, ...dependents(all, roots).map(({ urn }) => urn)]);
    const condemned = left.filter(
      (one) => (one.delete || !this.#operated.has(one.urn)) && (!targets || allowed.has(one.urn)),
    );
    const unspecified = isWithDependents ? [] : condemned.filter(({ name }) => targets && !targets.includes(name));
    if (unspecified.length > 0)
      throw new Bail(
        unspecified.map(({ urn }) => `${urn} will be destroyed but was not specified in --target list`).join("; "),
      );
    for (const { urn } of condemned) this.#deletes.add(urn);
    return condemned;
  }
}
