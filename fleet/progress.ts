import {
  type EngineEvent,
  printable,
  holdsLedger,
  lossWarnings,
  classOf,
  outlivesResource,
  partsOfUrn,
} from "pulumi-consortium/internal/fleet";
import { type Counts, noCounts } from "./results";

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

/** Follows the engine's events of one stack. */
export class Progress {
  readonly counts = noCounts();
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

  /** @param kind whether the engine's steps are done, deletions that were announced, only planned, or those of a refresh */
  constructor(
    private readonly mask: (text: string) => string,
    private readonly kind: "done" | "destroyed" | "planned" | "compared" = "done",
  ) {}

  /** Takes an event and returns its lines for the log. */
  take(event: EngineEvent): string[] {
    if (this.isJudging && !event.policyEvent && event.diagnosticEvent?.severity !== "error") return [];
    if (event.resourcePreEvent) return this.#begun(event.resourcePreEvent.metadata);
    if (event.resOutputsEvent && this.kind === "compared") return this.#compared(event.resOutputsEvent.metadata);
    if (event.resOutputsEvent) return this.#done(event.resOutputsEvent.metadata);
    if (event.diagnosticEvent) return this.#said(event.diagnosticEvent);
    if (event.policyEvent) return this.#judged(event.policyEvent);
    return [];
  }

  #begun(step: Step): string[] {
    if (!isObject(step) || this.kind === "compared") return [];
    const deletes = step.op === "delete" || step.op === "delete-replaced";
    const kind = classOf(step.type);
    if (!holdsLedger(kind) || (!deletes && step.op !== "replace") || outlivesResource(step.old ?? undefined)) return [];
    if (kind === "Consortium" && this.ledgers.length > 0) return []; // its contents are reported already
    const what = `${step.op === "delete" ? "deletes" : "replaces"} ${titleOf(step.urn)}`;
    if (this.ledgers.includes(what)) return [];
    this.ledgers.push(what);
    if (this.kind === "destroyed") return [];
    const loss = `WARNING: ${what}: ${this.kind === "planned" ? "its ledger would be destroyed" : "its ledger is destroyed"}`;
    return [loss];
  }

  #done(step: Step): string[] {
    if (!isObject(step)) return [];
    const kind = counted[step.op];
    if (kind === undefined) return [];
    this.counts[kind]++;
    if (kind === "unchanged") return [];
    if (classOf(step.type) === "Consortium") this.#countConsortium(step);
    if (kind === "replaced" && !holdsLedger(classOf(step.type))) this.replacements.push(titleOf(step.urn));
    return [`${signs[kind]} ${titleOf(step.urn)} ${this.kind === "planned" ? `to be ${kind}` : kind}`];
  }

  #countConsortium({ op, old, new: after }: Step): void {
    const { name } = after?.inputs ?? {};
    if (op === "create" && typeof name === "string") this.newConsortia.push(name);
    if (op === "delete" && typeof old?.id === "string") this.oldConsortia.push(old.id);
  }

  #judged({ policyName, enforcementLevel, message, resourceUrn }: NonNullable<EngineEvent["policyEvent"]>): string[] {
    if (!["mandatory", "advisory"].includes(enforcementLevel)) return [];
    const text = this.mask(message.trim().replaceAll(/\s*\n\s*/g, " "));
    const line = `${enforcementLevel} policy ${policyName}: ${titleOf(resourceUrn)}: ${text}`;
    if (this.#judgements.has(line)) return [];
    this.#judgements.add(line);
    if (enforcementLevel === "mandatory") this.errors.push(line);
    return [line];
  }

  #said({ severity, message, urn }: NonNullable<EngineEvent["diagnosticEvent"]>): string[] {
    const text = this.mask(message.trim().replace(/^1 error occurred:\s*\* /, ""));
    if (text === "" || !["info", "info#err", "warning", "error"].includes(severity)) return [];
    // The provider warns of each ledger as it begins to delete it.
    if (this.kind === "destroyed" && Object.values(lossWarnings).some((one) => text.includes(one))) return [];
    if (/pending operations|interrupted while (creating|updating|deleting)/.test(text)) this.pending = true;
    if (severity === "error") {
      // After the failure of a resource, the engine adds that the update failed.
      const known =
        this.errors.some((one) => one.includes(text)) || /^(update|preview|destroy|refresh) failed$/.test(text);
      if (!known) this.errors.push(urn === undefined ? text : `${titleOf(urn)}: ${text}`);
      return known ? [] : [`error: ${text}`];
    }
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
