import { status } from "@grpc/grpc-js";
import { DiffResponse } from "@pulumi/pulumi/proto/provider_pb";
import { isUnknown } from "../../../provider/core/values";
import { handler, type Handler, HostProcess } from "../../../provider/dynamic/host";
import { definitions } from "../../../provider/resources";
import { type Failed, Protocol } from "../protocol";
import { type Resource, type Rows } from "./state";
import { type Props, revealed, wire, withSecretsOf } from "./wire";

/* The provider processes of a run, as the engine talks to them. Properties are in wire form, secrets marked. */

export type Adapter = "dynamic" | "plugin";

interface Difference {
  changes: boolean;
  replaces: string[];
  deleteBeforeReplace: boolean;
}

interface Options {
  preview: boolean;
  /** Seconds; 0: the provider's default. */
  timeout: number;
}

/** One process, for one provider of one run. A call that fails throws `Failed`. */
export type Provider = Pick<PluginProcess, keyof PluginProcess>;

type Say = (row: string, text: string) => void;

/** Those of one run, by URN and id with `::` between them. */
export class Providers {
  /** All that run, those included whose configuration was refused. */
  readonly #started: Provider[] = [];
  readonly #configured = new Map<string, Promise<Provider>>();

  constructor(
    private readonly rows: Rows,
    private readonly say: Say,
  ) {}

  start({ type }: Resource): Provider {
    const started = startProvider(type.endsWith(":consortium") ? "plugin" : "dynamic", this.say);
    this.#started.push(started);
    return started;
  }

  configured({ urn, id }: Resource, provider: Provider): void {
    this.#configured.set(`${urn}::${id}`, Promise.resolve(provider));
  }

  isConfigured({ urn, id }: Resource): boolean {
    return this.#configured.has(`${urn}::${id}`);
  }

  /** One process for each provider of the run; one that the program has not registered starts with what the state says. */
  async of(reference: string): Promise<Provider> {
    const found = this.#configured.get(reference);
    if (found) return found;
    const old = this.rows.olds.find(({ urn, id }) => `${urn}::${id}` === reference);
    if (!old) throw new Error(`no provider ${reference}`);
    const provider = this.start(old);
    const starting = provider.configure(old.urn, old.inputs).then(() => provider);
    this.#configured.set(reference, starting);
    return starting;
  }

  /** @param regular whether the engine ends them after a run */
  close(regular: boolean): void {
    for (const provider of this.#started) provider.close(regular);
  }
}

const startProvider = (adapter: Adapter, say: Say): Provider =>
  adapter === "plugin" ? new PluginProcess(Protocol.direct(say)) : new DynamicProcess();

class PluginProcess {
  constructor(private readonly plugin: Protocol) {}

  checkConfig = (urn: string, news: Props) => this.plugin.checkConfig(news, urn);
  configure = (urn: string, inputs: Props) => this.plugin.configure(inputs, urn);
  check = (urn: string, olds: Props | undefined, news: Props) => this.plugin.check(urn, news, olds);
  diff = async (urn: string, id: string, olds: Props, news: Props) =>
    differenceOf(await this.plugin.diff(urn, id, olds, news));
  diffConfig = async (urn: string, olds: Props, news: Props) =>
    differenceOf(await this.plugin.diffConfig(urn, olds, news));
  create = (urn: string, inputs: Props, options: Options) => this.plugin.create(urn, inputs, options);
  update = (urn: string, id: string, olds: Props, news: Props, options: Options) =>
    this.plugin.update(urn, id, olds, news, options);
  delete = (urn: string, id: string, outs: Props, { timeout }: Options) => this.plugin.delete(urn, id, outs, timeout);
  read = (urn: string, id: string, outs: Props, inputs: Props): Promise<{ id: string; outs: Props; inputs?: Props }> =>
    this.plugin.read(urn, id, outs, inputs);
  /** @param regular whether the engine ends it after a run */
  close = (regular: boolean) => this.plugin.close(regular);
}

const differenceOf = (response: DiffResponse): Difference => ({
  changes: response.getChanges() === DiffResponse.DiffChanges.DIFF_SOME,
  replaces: response.getReplacesList(),
  deleteBeforeReplace: response.getDeletebeforereplace(),
});

/** The host of dynamic providers: it sees no secrets, knows no previews, and evaluates the code in `__provider`. */
class DynamicProcess implements Provider {
  readonly #host = new HostProcess(() => new AbortController().signal);
  readonly #handlers: Record<string, Handler>;
  readonly #configured = new Set<string>();
  #config: Record<string, string> = {};

  constructor() {
    this.#handlers = Object.fromEntries(
      Object.entries(definitions).map(([kind, definition]) => [kind, handler(definition, this.#host)]),
    );
  }

  #handler({ __provider: code }: Props): Handler {
    const [, kind = ""] =
      /^exports\.handler=\(\)=>require\("pulumi-consortium\/runtime"\)\.(\w+)$/.exec(String(code)) ?? [];
    const found = this.#handlers[kind];
    if (!found) throw failed(`code must be a string, and of a handler, not ${String(code)}`);
    if (!this.#configured.has(kind)) found.configure({ config: { get: (key) => this.#config[key] } });
    this.#configured.add(kind);
    return found;
  }

  checkConfig = () => Promise.resolve([]);
  diffConfig = (_urn: string, olds: Props, news: Props) =>
    Promise.resolve({
      changes: JSON.stringify(revealed(olds)) !== JSON.stringify(revealed(news)),
      replaces: [],
      deleteBeforeReplace: false,
    });

  configure = (_urn: string, inputs: Props): Promise<void> => {
    this.#config = revealed(inputs) as Record<string, string>;
    return Promise.resolve();
  };

  check: Provider["check"] = (_urn, olds, given) =>
    guarded(async () => {
      const news = wire(revealed(given));
      const { inputs, failures } = await this.#handler(news).check(wire(revealed(olds ?? {})), news);
      return { inputs: withSecretsOf(wire({ ...inputs, __provider: news.__provider }), given) as Props, failures };
    });

  diff: Provider["diff"] = (_urn, id, olds, news) =>
    guarded(async () => {
      const [before, after] = [wire(revealed(olds)), wire(revealed(news))];
      const found = await this.#handler(isUnknown(after.__provider) ? before : after).diff(id, before, after);
      if (typeof found.changes !== "boolean") throw new Error("diff must say whether there are changes");
      return { ...found, changes: found.changes };
    });

  create: Provider["create"] = (_urn, inputs, { preview }) =>
    guarded(async () => {
      if (preview) return { id: "", outs: inputs };
      const plain = wire(revealed(inputs));
      const { id, outs } = await this.#handler(plain).create(plain);
      return { id, outs: withSecretsOf(wire({ ...outs, __provider: plain.__provider }), inputs) as Props };
    });

  update: Provider["update"] = (_urn, id, olds, news, { preview }) =>
    guarded(async () => {
      if (preview) return { outs: news };
      const plain = wire(revealed(news));
      const { outs } = await this.#handler(plain).update(id, wire(revealed(olds)), plain);
      return { outs: withSecretsOf(wire({ ...outs, __provider: plain.__provider }), news) as Props };
    });

  read: Provider["read"] = (_urn, id, outs, inputs) =>
    guarded(async () => {
      const plain = wire(revealed(outs));
      const { __provider } = plain;
      const found = await this.#handler(plain).read(id, plain);
      return {
        id: found.id,
        outs: withSecretsOf(wire({ ...found.props, __provider }), outs) as Props,
        ...(found.inputs && { inputs: withSecretsOf(wire({ ...found.inputs, __provider }), inputs) as Props }),
      };
    });

  delete: Provider["delete"] = (_urn, id, outs) =>
    guarded(() => {
      const plain = wire(revealed(outs));
      return this.#handler(plain).delete(id, plain);
    });

  close = (regular: boolean) => void (regular && this.#host.sessions.left());
}

const failed = (details: string, kept?: Failed["kept"]): Error & Failed =>
  Object.assign(new Error(details), { code: status.UNKNOWN, details, kept });

/** Turns an error into an answer, as the host of dynamic providers does: one with an id keeps the object. */
async function guarded<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const { message, id, properties = {}, reasons = [] } = error as Error & Partial<NonNullable<Failed["kept"]>>;
    if (id === undefined || id === "") throw failed(message);
    if (reasons.length === 0) throw new Error("an incomplete resource needs reasons", { cause: error });
    throw failed(message, { id, properties: wire(properties), reasons });
  }
}
