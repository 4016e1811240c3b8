import { isDeepStrictEqual } from "node:util";
import {
  coded,
  type EngineEvent,
  printable,
  differencesBetween,
  holdsLedger,
  inWords,
  kindOf,
  lossWarnings,
  classOf,
  outlivesResource,
  partsOfUrn,
} from "pulumi-consortium/internal/fleet";
import { type Counts, type StackResult, type Verb } from "./results";

type Step = NonNullable<EngineEvent["resOutputsEvent"]>["metadata"];

/** How each step is counted. A replacement counts once, by its creation. */
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
function titleOf(urn: string): string {
  const { type, name } = partsOfUrn(urn);
  return printable(`${type.split(":").at(-1)} ${name}`);
}

/** Whether a resource is an object of a service, rather than the stack, a component or a provider. */
const isOfService = ({ type, new: after, old }: Step): boolean =>
  !type.startsWith("pulumi:") && (after ?? old)?.custom === true;

/** The differences with values: `: name is "b", and "a" in the stack`. Without them, the properties from the engine: ` in state`. */
function differenceIn({ old, new: now, type }: Step): string {
  const [before, after] = [old?.outputs ?? {}, now?.outputs ?? {}];
  const kind = kindOf(classOf(type));
  const drift = kind ? differencesBetween(kind, before, after) : [];
  if (drift.length > 0) return `: ${drift.map(inWords).join("; ")}`;
  const keys = Object.keys({ ...before, ...after }).filter((key) => !key.startsWith("__") && key !== "revision");
  const different = keys.filter((key) => !isDeepStrictEqual(before[key], after[key]));
  return different.length > 0 ? ` in ${different.join(", ")}` : "";
}

/** Follows the engine's events of one stack, and counts the changes in its result. */
export class Progress {
  readonly errors: string[] = [];
  pending = false;

  /** Policy violations that were reported: an `up` repeats those of its preview. */
  readonly #judgements = new Set<string>();

  constructor(
    readonly result: StackResult,
    private readonly mask: (text: string) => string,
    private readonly command: Verb = "up",
  ) {}

  /** Whether the engine's steps are only planned. */
  get #isPlanned(): boolean {
    return this.command === "preview" || this.command === "losses";
  }

  /** Takes an event and returns its lines for the log. */
  take(event: EngineEvent): string[] {
    const { resourcePreEvent: begun, resOutputsEvent: done, diagnosticEvent: said, policyEvent: judged } = event;
    const step = (begun ?? done)?.metadata;
    if (step && isOfService(step) && this.command === "drift") return done ? this.#compared(step) : [];
    if (step && isOfService(step)) return done ? this.#done(step) : this.#begun(step);
    if (said) return this.#said(said);
    return judged ? this.#judged(judged) : [];
  }

  #begun(step: Step): string[] {
    const deletes = step.op === "delete" || step.op === "delete-replaced";
    // A replacement makes the new one first: until the old one goes, nothing is lost.
    const loses = deletes || (step.op === "replace" && this.#isPlanned);
    const kind = classOf(step.type);
    if (!loses || !holdsLedger(kind) || outlivesResource(step.old ?? undefined)) return [];
    if (kind === "Consortium" && this.result.ledgers.length > 0) return []; // its contents are reported already
    const what = `${step.op === "delete" ? "deletes" : "replaces"} ${titleOf(step.urn)}`;
    if (this.result.ledgers.includes(what)) return [];
    this.result.ledgers.push(what);
    if (this.command === "destroy") return []; // it was announced
    return [`WARNING: ${what}: its ledger ${this.#isPlanned ? "would be" : "is"} destroyed`];
  }

  #done(step: Step): string[] {
    const kind = counted[step.op];
    if (kind === undefined) return [];
    this.result[kind]++;
    if (kind === "unchanged") return [];
    if (kind === "replaced" && !holdsLedger(classOf(step.type))) this.result.replacements.push(titleOf(step.urn));
    return [`${signs[kind]} ${titleOf(step.urn)} ${this.#isPlanned ? `to be ${kind}` : kind}`];
  }

  #judged({ policyName, enforcementLevel, message, resourceUrn }: NonNullable<EngineEvent["policyEvent"]>): string[] {
    if (!["mandatory", "advisory"].includes(enforcementLevel)) return [];
    const text = this.mask(message.trim().replaceAll(/\s*\n\s*/g, " "));
    const line = `${enforcementLevel} policy ${policyName}: ${titleOf(resourceUrn)}: ${text}`;
    if (this.#judgements.has(line)) return [];
    this.#judgements.add(line);
    if (enforcementLevel === "mandatory") this.errors.push(coded(line, "policy-violated"));
    return [line];
  }

  #said({ severity, message, urn }: NonNullable<EngineEvent["diagnosticEvent"]>): string[] {
    const text = this.mask(message.trim().replace(/^1 error occurred:\s*\* /, ""));
    if (text === "" || !["info", "info#err", "warning", "error"].includes(severity)) return [];
    // The provider warns of each ledger as it begins to delete it.
    if (this.command === "destroy" && Object.values(lossWarnings).some((one) => text.includes(one))) return [];
    if (/pending operations|interrupted while (creating|updating|deleting)/.test(text)) this.pending = true;
    if (severity === "error") {
      // After the failure of a resource, the engine may tell it again, and adds that the update failed.
      const about = urn === undefined ? "" : `${titleOf(urn)}: `;
      const known =
        this.errors.some((one) => one.startsWith(about) && one.includes(text)) ||
        /^(update|preview|destroy|refresh) failed$/.test(text);
      if (!known) this.errors.push(about + text);
      return known ? [] : [`error: ${text}`];
    }
    return text.split("\n");
  }

  /** A step of a refresh: the object differs from the state. */
  #compared(step: Step): string[] {
    const title = titleOf(step.urn);
    const found: Partial<Record<string, string>> = {
      update: `${title} differs${differenceIn(step)}`,
      delete: `${title} is gone`,
      create: `${title} is not created yet`,
    };
    const line = found[step.op];
    if (line === undefined) return [];
    this.result.drift.push(line);
    return [line];
  }
}
