import {
  CheckRequest,
  CheckResponse,
  type CreateRequest,
  CreateResponse,
  type DeleteRequest,
  type DiffRequest,
  DiffResponse,
  ErrorResourceInitFailed,
  PropertyDiff,
  type ReadRequest,
  ReadResponse,
  type UpdateRequest,
  UpdateResponse,
} from "@pulumi/pulumi/proto/provider_pb";
import {
  classOf,
  kindOf,
  hiddenKey,
  lossWarning,
  partsOfUrn,
  autonamingSetting,
  previewKey,
  programKey,
  providerKey,
  secretsKey,
  unnamedKey,
} from "../provider/constants";
import { cautionsOf, Verbs } from "../provider/pulumi/verbs";
import { type Sessions } from "../provider/pulumi/sessions";
import { version } from "../provider/version";
import {
  type Definition,
  inputMeta,
  type Issue,
  nameKey,
  nameOf,
  type Props,
  secretKeys,
} from "../provider/core/definition";
import { messageOf } from "../provider/plain";
import { changedKeys, regenerating } from "../provider/core/diff";
import { isStored, partsOf } from "../provider/core/state";
import { Incomplete, UserError } from "../provider/errors";
import { definitions } from "../provider/resources";
import { failure } from "./configuration";
import { beforeRead, importedInputs, locate, importWarnings } from "./import";
import { fromEngine, type Received, toEngine } from "./properties";
import { credentials, Metadata, type ServerErrorResponse, status } from "@grpc/grpc-js";
import { EngineClient } from "@pulumi/pulumi/proto/engine_grpc_pb";
import { LogRequest, LogSeverity } from "@pulumi/pulumi/proto/engine_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import { Any } from "google-protobuf/google/protobuf/any_pb";
import { type Struct } from "google-protobuf/google/protobuf/struct_pb";
import { printableLines } from "../provider/api/printable";
import { isUnset, unknown } from "../provider/core/values";

/** Where a line is shown: among the diagnostics, or in the resource's row until the next line. */
type Weight = "info" | "warning" | "passing";

/** The calls of the engine that a plugin needs. */
export class Engine {
  readonly #client: EngineClient;

  constructor(readonly address: string) {
    this.#client = new EngineClient(address, credentials.createInsecure());
  }

  /** Shows a line in the row of a resource; without a URN, for the whole run. Ignores an engine that is gone. */
  async show(message: string, weight: Weight, urn = ""): Promise<void> {
    const request = new LogRequest();
    const [mark = ""] = /^WARNING: /.exec(message) ?? []; // the core's; Pulumi has its own
    request.setSeverity(weight === "warning" || mark !== "" ? LogSeverity.WARNING : LogSeverity.INFO);
    request.setMessage(message.slice(mark.length));
    request.setUrn(urn);
    request.setEphemeral(weight === "passing");
    await new Promise<void>((resolve) => this.#client.log(request, () => resolve()));
  }
}

/** Input for the resource option, which only the dynamic provider needs: the engine tells a plugin the time-outs. */
const timeoutsKey = "customTimeouts";

/** Marks inputs with a name that stack configuration made. */
const autonamedKey = "__autonamed";

const untimed = ({ [timeoutsKey]: _given, [autonamedKey]: _mark, ...props }: Props): Props => props;

interface Naming {
  named?: Props;
  /** Other keys that the inputs keep. */
  marked?: Props;
  refused?: Issue;
}

/** How messages name the resource. undefined: it is another package's. */
export function calledIn(urn: string): string | undefined {
  const { type, name } = partsOfUrn(urn);
  const kind = classOf(type);
  return kind && `${kind} "${name}"`;
}

/** Also by the type of the dynamic provider: after a move to it, deletions that are still due keep this provider. */
export function definitionOf(type: string): Definition {
  const kind = kindOf(classOf(type));
  if (!kind) throw new UserError("wrong-version", `This plugin has no resource ${type}.`);
  return definitions[kind];
}

const otherVersion = (program: string): string =>
  `the program has pulumi-consortium ${program}, but the provider plugin is ${version}: install the plugin of the same version, ` +
  `with \`npx --no-install consortium plugin install\` in the folder of the program.`;

/** The code in a state from the dynamic provider, kept so that moving back changes nothing. */
const codeIn = ({ [providerKey]: code }: Props): Props => (code === undefined ? {} : { [providerKey]: code });

/** Whether the request comes from `pulumi do … --stateless`, which names resources after their type. */
function isOperation({ type, name, project }: ReturnType<typeof partsOfUrn>): boolean {
  return name === classOf(type) && project === "default";
}

/** Warns about the losses of a deletion. `pulumi do … delete` reads the object, asks, and only then tells the provider what it is about. */
function deletionLines(definition: Definition, id: string, inputs: Props): string[] {
  const loss = lossWarning("delete", definition.type);
  return loss === undefined ? [] : [`${nameOf(definition, inputs)} (${id}): ${loss}`];
}

/** The verbs of the one resource that a request names, in the engine's messages. */
export class Resource {
  readonly #parts: ReturnType<typeof partsOfUrn>;
  readonly #definition: Definition;
  readonly #verbs: Verbs;
  /** Lines on their way to the engine, which may end this process after the answer. */
  readonly #saying: Promise<void>[] = [];

  constructor(
    private readonly urn: string,
    private readonly sessions: Sessions,
    private readonly engine: Engine | undefined,
    /** The ids of objects that were read by a path or a name: `pulumi do … patch` goes on with what it was given. */
    private readonly found: Map<string, string> = new Map(),
  ) {
    const { name, project, stack, type } = (this.#parts = partsOfUrn(urn));
    this.#definition = definitionOf(type);
    const owner = { key: urn, name };
    sessions.log.nameStack({ project, stack });
    this.#verbs = new Verbs(this.#definition, sessions, owner, {
      say: (line) => void this.#saying.push(this.#show([line], "info")),
      tell: (line) => void this.#show([line], "passing"),
      isAsked: isOperation(this.#parts),
    });
  }

  async #show(lines: readonly string[], weight: Weight): Promise<void> {
    await Promise.all(lines.map(async (line) => this.engine?.show(this.sessions.secrets.mask(line), weight, this.urn)));
  }

  /** Plain properties, whose secrets are masked from now on. */
  #fromEngine(struct: Struct | undefined): Received {
    const given = fromEngine(struct);
    this.sessions.hide(given.props, given.paths);
    return given;
  }

  /** Inputs with the engine's time-out for one verb, in seconds. 0: the default. */
  static #within(verb: "create" | "update" | "delete", seconds: number, props: Props): Props {
    const rest = untimed(props);
    return seconds > 0 ? { ...rest, [timeoutsKey]: { [verb]: seconds } } : rest;
  }

  /** Marks secret properties: those of the request, and those of the resource. */
  #toEngine(props: Props, secrets: readonly string[]): Struct {
    return toEngine(props, [...secrets, ...secretKeys(this.#definition), hiddenKey]);
  }

  #state(state: Props, secrets: readonly string[]): Struct {
    return this.#toEngine(untimed(state), secrets);
  }

  async check(request: CheckRequest): Promise<CheckResponse> {
    const { props: olds } = this.#fromEngine(request.getOlds());
    const { props: sentNews, secrets, paths } = this.#fromEngine(request.getNews());
    // The preview of the create says what would be adopted.
    const { [previewKey]: isPreview, ...news } = sentNews;
    const naming = this.#naming(request, olds, news);
    const given = secretKeys(this.#definition).filter((key) => news[key] !== undefined && !secrets.includes(key));
    const hidden = [...paths, ...given.map((key) => [key])];
    const {
      inputs,
      failures: issues,
      lines,
    } = this.#verbs.check(olds, {
      ...news,
      ...naming.named,
      ...(hidden.length > 0 && { [secretsKey]: hidden }),
    });
    if (naming.refused) issues.unshift(naming.refused);
    if (isPreview && issues.length === 0) await this.#proveKey();
    const { [programKey]: program = version } = news;
    if (program !== version)
      issues.push({ property: "", reason: otherVersion(String(program)), code: "wrong-version" });
    await this.#show(lines, "warning");
    const response = new CheckResponse();
    response.setInputs(toEngine({ ...inputs, ...naming.marked }, [...paths, ...secretKeys(this.#definition)]));
    response.setFailuresList(issues.map(failure));
    return response;
  }

  /** The name if the program gives none: the resource's, unless stack configuration (`pulumi:autonaming`) makes one. */
  #naming(request: CheckRequest, olds: Props, news: Props): Naming {
    const key = nameKey(this.#definition);
    const { name } = this.#parts;
    const isLeft = key !== undefined && (isUnset(news[key]) || (news[unnamedKey] === true && news[key] === name));
    if (!isLeft) return {};
    const autonaming = request.getAutonaming();
    const isMade = olds[autonamedKey] === true;
    if (!autonaming && !isMade) return { named: { [key]: name } };
    // Once made, it stays, whatever the configuration says later.
    if (!isUnset(olds[key])) return { named: { [key]: olds[key] }, marked: { [autonamedKey]: isMade || undefined } };
    if (autonaming?.getMode() === CheckRequest.AutonamingOptions.Mode.DISABLE) {
      const reason = `${key} is required, because ${autonamingSetting} in the stack's configuration generates none: set it in the program`;
      return { named: { [key]: name }, refused: { property: key, reason } };
    }
    return {
      named: { [key]: this.#verbs.killedName(news) ?? autonaming?.getProposedName() },
      marked: { [autonamedKey]: true },
    };
  }

  async diff(request: DiffRequest): Promise<DiffResponse> {
    const olds = untimed(this.#fromEngine(request.getOlds()).props);
    const news = untimed(this.#fromEngine(request.getNews()).props);
    const id = this.#id(request);
    const { changed, changes, replaces, deleteBeforeReplace, warnings } = await this.#verbs.diff(id, olds, news);
    await this.#show(warnings, "warning");
    const response = new DiffResponse();
    const { DIFF_NONE, DIFF_SOME } = DiffResponse.DiffChanges;
    response.setChanges(changes ? DIFF_SOME : DIFF_NONE);
    response.setReplacesList(replaces);
    response.setDeletebeforereplace(deleteBeforeReplace);
    response.setDiffsList(changed);
    const detailed = response.getDetaileddiffMap();
    for (const key of changed) detailed.set(key, detailOf(olds[key], news[key], replaces.includes(key)));
    response.setHasdetaileddiff(changed.length > 0);
    return response;
  }

  async create(request: CreateRequest): Promise<CreateResponse> {
    const { props, secrets } = this.#fromEngine(request.getProperties());
    const response = new CreateResponse();
    if (request.getPreview()) {
      await this.#proveKey();
      const { lines, id } = await this.#verbs.adoption(props);
      await this.#show([...lines, ...cautionsOf(this.#definition, props, this.sessions.run().stopped)], "info");
      if (id !== undefined) response.setId(id); // so that what is in it can be looked for, too
      response.setProperties(this.#state(createPreview(this.#definition, props), secrets));
      return response;
    }
    const inputs = Resource.#within("create", request.getTimeout(), props);
    const { id, state } = await this.#keeping(secrets, () => this.#verbs.create(inputs));
    response.setId(id);
    response.setProperties(this.#state(state, secrets));
    return response;
  }

  /** Reads for a refresh, or for an object that is not in the stack yet: an import, or the `get` of a program. */
  async read(request: ReadRequest): Promise<ReadResponse> {
    const { props, secrets } = this.#fromEngine(request.getProperties());
    const { props: before } = this.#fromEngine(request.getInputs());
    // Inputs of the program that the state does not have are not applied yet.
    const added = Object.entries(before).filter(([key]) => key.startsWith("__") || !isStored(props));
    const known: Props = { ...Object.fromEntries(added), ...props };
    if (!isStored(known)) {
      const { type: kind } = this.#definition;
      const readNew = (): Promise<ReadResponse> => this.#readNew(request.getId(), known, secrets);
      return this.sessions.traced("import", kind, this.#parts.name, readNew);
    }
    const id = request.getId();
    const found = await this.#keeping(secrets, () => this.#verbs.read(id, known));
    if (!found) return new ReadResponse();
    return this.#found(
      id,
      { ...found.props, ...codeIn(known) },
      { ...(found.inputs ?? before), [autonamedKey]: before[autonamedKey] },
      secrets,
    );
  }

  #given(id: string): string {
    return `${this.#definition.type} ${id}`;
  }

  /** The object's own id. */
  #id(request: { getId(): string }): string {
    return this.found.get(this.#given(request.getId())) ?? request.getId();
  }

  /** Reads an object that is not in the stack yet. An import knows only its id. */
  async #readNew(given: string, known: Props, secrets: readonly string[]): Promise<ReadResponse> {
    const definition = this.#definition;
    const { id, state } = await locate(this.sessions.current(), definition, given, known);
    if (id !== given) this.found.set(this.#given(given), id);
    const found = await this.#verbs.read(id, beforeRead(definition, this.#parts.name, state));
    if (!found) return new ReadResponse();
    const inputs = importedInputs(definition, found.props);
    if (Object.keys(known).length === 0) await this.#show(importWarnings(definition, id, inputs), "warning");
    if (isOperation(this.#parts)) await this.#show(deletionLines(definition, id, inputs), "warning");
    return this.#found(id, found.props, inputs, secrets);
  }

  #found(id: string, props: Props, inputs: Props, secrets: readonly string[]): ReadResponse {
    const response = new ReadResponse();
    response.setId(id);
    // Unchanged, so that a state from the dynamic provider shows no difference.
    response.setProperties(this.#toEngine(props, secrets));
    response.setInputs(this.#toEngine(inputs, secrets));
    return response;
  }

  async update(request: UpdateRequest): Promise<UpdateResponse> {
    const old = this.#fromEngine(request.getOlds());
    const { props, secrets } = this.#fromEngine(request.getNews());
    const response = new UpdateResponse();
    if (request.getPreview()) {
      await this.#proveKey();
      const state = updatePreview(this.#definition, old.props, props);
      response.setProperties(this.#state(state, [...secrets, ...old.secrets]));
      return response;
    }
    const inputs = Resource.#within("update", request.getTimeout(), props);
    const state = await this.#keeping(secrets, () => this.#verbs.update(this.#id(request), old.props, inputs));
    response.setProperties(this.#state({ ...state, ...codeIn(old.props) }, secrets));
    return response;
  }

  delete(request: DeleteRequest): Promise<void> {
    const { props, secrets } = this.#fromEngine(request.getProperties());
    const state = Resource.#within("delete", request.getTimeout(), props);
    return this.#keeping(secrets, () => this.#verbs.delete(this.#id(request), state));
  }

  async #proveKey(): Promise<void> {
    await this.#warn(await this.sessions.proveKey());
  }

  async #warn(warning: string | undefined): Promise<void> {
    if (warning !== undefined) await this.#show([warning], "warning");
  }

  /** Turns an object that exists but is not ready into an error with its id and state. */
  async #keeping<T>(secrets: readonly string[], run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof Incomplete)) throw error;
      const shown = this.sessions.shown(error, calledIn(this.urn)) as Incomplete;
      // eslint-disable-next-line @typescript-eslint/only-throw-error -- the form that gRPC takes
      throw notReady(shown, this.#state(shown.state, secrets));
    } finally {
      await Promise.all(this.#saying);
    }
  }
}

function detailOf(old: unknown, now: unknown, replaces: boolean): PropertyDiff {
  const { ADD, ADD_REPLACE, DELETE, DELETE_REPLACE, UPDATE, UPDATE_REPLACE } = PropertyDiff.Kind;
  const detail = new PropertyDiff();
  const kinds =
    old === undefined ? [ADD, ADD_REPLACE] : now === undefined ? [DELETE, DELETE_REPLACE] : [UPDATE, UPDATE_REPLACE];
  detail.setKind(kinds[replaces ? 1 : 0]!);
  detail.setInputdiff(false);
  return detail;
}

/** The engine takes an error without a code for a crash. */
const code = status.FAILED_PRECONDITION;

/** An error as the engine shows it: the message, without a stack. */
export function refusal(error: unknown): Partial<ServerErrorResponse> {
  return { code, details: printableLines(messageOf(error)) };
}

/** The error for an object that exists but is not ready: the engine keeps id and state, and the next `up` continues. */
function notReady(error: Incomplete, properties: Struct): Partial<ServerErrorResponse> {
  const shown = refusal(error);
  const failed = new ErrorResourceInitFailed();
  failed.setId(error.id);
  failed.setProperties(properties);
  failed.setReasonsList([shown.details!]);
  const detail = new Any();
  detail.pack(failed.serializeBinary(), "pulumirpc.ErrorResourceInitFailed");
  const details = new Status();
  details.setCode(code);
  details.setMessage(shown.details!);
  details.addDetails(detail);
  const metadata = new Metadata();
  metadata.set("grpc-status-details-bin", Buffer.from(details.serializeBinary()));
  return { ...shown, metadata };
}

/* Answers to a preview: everything that is known, and the rest as unknown, so that programs do not take it for absent. */

const outputsWith = ({ outputs }: Definition, value: (key: string) => unknown): Props =>
  Object.fromEntries(Object.keys(outputs.shape).map((key) => [key, value(key)]));

/** Inputs are known as given. Outputs, and inputs that the service chooses, are unknown until the create. */
const createPreview = (definition: Definition, inputs: Props): Props => ({
  ...outputsWith(definition, () => unknown),
  ...chosenByService(definition, inputs, {}),
  ...inputs,
});

/** Outputs that an update in place does not change stay known. For an object that is only configured (a tether), any may change. */
function updatePreview(definition: Definition, olds: Props, inputs: Props): Props {
  const isNewSecret = regenerating(definition, partsOf(definition, olds), inputs) !== undefined;
  const changes = ["revision", ...(isNewSecret ? secretKeys(definition) : [])];
  return {
    ...olds,
    ...outputsWith(definition, (key) =>
      definition.steps?.idKey !== undefined || changes.includes(key) || isUnset(olds[key]) ? unknown : olds[key],
    ),
    ...chosenByService(definition, inputs, olds),
    ...inputs,
    ...Object.fromEntries(
      changedKeys(definition, partsOf(definition, olds), inputs).kept.map((key) => [key, olds[key]]),
    ),
  };
}

function chosenByService(definition: Definition, inputs: Props, olds: Props): Props {
  const open = Object.keys(definition.inputs.shape).filter(
    (key) => inputMeta(definition, key)?.computed && isUnset(inputs[key]),
  );
  return Object.fromEntries(open.map((key) => [key, olds[key] ?? unknown]));
}
