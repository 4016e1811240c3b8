import {
  type EngineEvent,
  printable,
  holdsLedger,
  classOf,
  outlivesResource,
  partsOfUrn,
  renamedKeyHint,
} from "pulumi-consortium/internal/fleet";
import { type StackResult } from "./results";

/** How many resources of a stack were created, updated and so on. */
export type Counts = Pick<StackResult, "created" | "updated" | "replaced" | "deleted" | "unchanged">;
export const noCounts = (): Counts => ({ created: 0, updated: 0, replaced: 0, deleted: 0, unchanged: 0 });

type Step = NonNullable<EngineEvent["resOutputsEvent"]>["metadata"];

/** What each step counts as. Of a replacement, only the creation counts. */
const counted: Partial<Record<string, keyof Counts>> = {
  create: "created",
  import: "created",
  update: "updated",
  delete: "deleted",
  same: "unchanged",
  "create-replacement": "replaced",
  "import-replacement": "replaced",
};

const signs: Partial<Record<keyof Counts, string>> = { created: "+", updated: "~", replaced: "+-", deleted: "-" };

/** The title of a resource: "Node trade/prod/acme-1". */
export function titleOf(urn: string): string {
  const { type, name } = partsOfUrn(urn);
  return printable(`${type.split(":").at(-1)} ${name}`);
}

/** Whether it is an object of a service, and not the stack itself, a component or a provider. */
const isObject = ({ type, new: after, old }: Step): boolean =>
  !type.startsWith("pulumi:") && (after ?? old)?.custom === true;

/** Properties that differ, except those that change by themselves. */
function differing(old: Step["old"], current: Step["new"]): string[] {
  const [before, after] = [old?.outputs ?? {}, current?.outputs ?? {}];
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const same = (key: string) => JSON.stringify(before[key]) === JSON.stringify(after[key]);
  return keys.filter((key) => !key.startsWith("__") && key !== "revision" && !same(key));
}

const splitName = (name: string): [parent: string, key: string] => {
  const at = name.lastIndexOf("/");
  return [name.slice(0, Math.max(0, at)), name.slice(at + 1)];
};

/** Follows the engine's events of one stack. */
export class Progress {
  readonly counts = noCounts();
  /** The step in progress. */
  now = "";
  readonly errors: string[] = [];
  /** Ledgers that are replaced or deleted: "replaces Environment trade/prod". */
  readonly ledgers: string[] = [];
  /** Other resources that are replaced: "Node trade/prod/acme-1". */
  readonly replacements: string[] = [];
  /** Resources that differ from the state: "Node trade/prod/acme-1 is gone". */
  readonly drift: string[] = [];
  /** Names of consortia that are created and ids of those that are deleted, for the limit of the organization. */
  readonly newConsortia: string[] = [];
  readonly oldConsortia: string[] = [];
  pending = false;
  /** Whether this is the preview of an `up`, of which only policies and errors count: the rest follows when it is done. */
  isJudging = false;

  /** Policy violations that were reported: an `up` repeats those of its preview. */
  readonly #judgements = new Set<string>();
  readonly #newEnvironments: string[] = [];
  /** Whether the provider gave advice on a renamed key, as it does for JavaScript programs. */
  #isAdvised = false;
  readonly #mask: (text: string) => string;
  readonly #kind: "done" | "planned" | "compared";

  /** @param kind whether the engine's steps are done, only planned, or those of a refresh */
  constructor(mask: (text: string) => string, kind: "done" | "planned" | "compared" = "done") {
    this.#mask = mask;
    this.#kind = kind;
  }

  /** Takes an event and returns its lines for the log. */
  take(event: EngineEvent): string[] {
    if (this.isJudging && !event.policyEvent && event.diagnosticEvent?.severity !== "error") return [];
    if (event.resourcePreEvent) return this.#begun(event.resourcePreEvent.metadata);
    if (event.resOutputsEvent && this.#kind === "compared") return this.#compared(event.resOutputsEvent.metadata);
    if (event.resOutputsEvent) return this.#done(event.resOutputsEvent.metadata);
    if (event.diagnosticEvent) return this.#said(event.diagnosticEvent);
    if (event.policyEvent) return this.#judged(event.policyEvent);
    return [];
  }

  #begun(step: Step): string[] {
    if (!isObject(step) || this.#kind === "compared") return [];
    const deletes = step.op === "delete" || step.op === "delete-replaced";
    if (step.op !== "same") this.now = `${step.op} ${titleOf(step.urn)}`;
    const kind = classOf(step.type);
    if (step.op === "create" && kind === "Environment") this.#newEnvironments.push(partsOfUrn(step.urn).name);
    if (!holdsLedger(kind) || (!deletes && step.op !== "replace") || outlivesResource(step.old ?? undefined)) return [];
    if (kind === "Consortium" && this.ledgers.length > 0) return []; // its contents are reported already
    const what = `${step.op === "delete" ? "deletes" : "replaces"} ${titleOf(step.urn)}`;
    if (this.ledgers.includes(what)) return [];
    this.ledgers.push(what);
    const loss = `WARNING: ${what}: ${this.#kind === "planned" ? "its ledger would be destroyed" : "its ledger is destroyed"}`;
    return [loss, ...(step.op === "delete" ? this.#renames(step.urn) : [])];
  }

  /** Advice for an environment whose key in the network file may have been renamed. The engine reports creations first. */
  #renames(urn: string): string[] {
    const { name } = partsOfUrn(urn);
    const [parent] = splitName(name);
    const keys = this.#newEnvironments.map(splitName).flatMap(([other, one]) => (other === parent ? [one] : []));
    if (this.#isAdvised || classOf(partsOfUrn(urn).type) !== "Environment" || keys.length === 0) return [];
    return [renamedKeyHint(name, keys)];
  }

  #done(step: Step): string[] {
    if (!isObject(step)) return [];
    const kind = counted[step.op];
    if (kind === undefined) return [];
    this.counts[kind]++;
    if (classOf(step.type) === "Consortium") this.#countConsortium(step);
    if (kind === "unchanged") return [];
    if (kind === "replaced" && !holdsLedger(classOf(step.type))) this.replacements.push(titleOf(step.urn));
    return [`${signs[kind]} ${titleOf(step.urn)} ${this.#kind === "planned" ? `to be ${kind}` : kind}`];
  }

  #countConsortium({ op, old, new: after }: Step): void {
    const { name } = after?.inputs ?? {};
    if (op === "create" && typeof name === "string") this.newConsortia.push(name);
    if (op === "delete" && typeof old?.id === "string") this.oldConsortia.push(old.id);
  }

  #judged({ policyName, enforcementLevel, message, resourceUrn }: NonNullable<EngineEvent["policyEvent"]>): string[] {
    if (!["mandatory", "advisory"].includes(enforcementLevel)) return [];
    const text = this.#mask(message.trim().replaceAll(/\s*\n\s*/g, " "));
    const line = `${enforcementLevel} policy ${policyName}: ${titleOf(resourceUrn)}: ${text}`;
    if (this.#judgements.has(line)) return [];
    this.#judgements.add(line);
    if (enforcementLevel === "mandatory") this.errors.push(line);
    return [line];
  }

  #said({ severity, message, urn }: NonNullable<EngineEvent["diagnosticEvent"]>): string[] {
    const text = this.#mask(message.trim().replace(/^1 error occurred:\s*\* /, ""));
    if (text === "" || !["info", "info#err", "warning", "error"].includes(severity)) return [];
    if (text.includes('write "formerly: ')) this.#isAdvised = true;
    if (/pending operations|interrupted while (creating|updating|deleting)/.test(text)) this.pending = true;
    if (severity === "error") {
      // After the failure of a resource, the engine adds that the update failed.
      const known =
        this.errors.some((one) => one.includes(text)) || /^(update|preview|destroy|refresh) failed$/.test(text);
      if (!known) this.errors.push(urn === undefined ? text : `${titleOf(urn)}: ${text}`);
      return known ? [] : [`error: ${text}`];
    }
    this.now = text.split("\n")[0]!;
    return text.split("\n");
  }

  /** A step of a refresh: the object differs from the state. */
  #compared(step: Step): string[] {
    if (!isObject(step)) return [];
    const changes: Partial<Record<string, string>> = {
      update: "differs",
      delete: "is gone",
      create: "is not created yet",
    };
    const how = changes[step.op];
    if (how === undefined) return [];
    const properties = differing(step.old, step.new);
    const which = how === "differs" && properties.length > 0 ? ` in ${properties.join(", ")}` : "";
    this.drift.push(`${titleOf(step.urn)} ${how}${which}`);
    return [this.drift.at(-1)!];
  }
}
