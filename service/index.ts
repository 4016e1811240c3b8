import { openBackend } from "./backend";
import type { Backend, Base, LedgerState } from "./context";
import { checked, reporter } from "./errors";
import { type Fault, type FaultRule, Faults } from "./faults";
import { type Call, CallLog, InFlight } from "./http/call-log";
import { Listener, waitFor } from "./http/server";
import { Tokens } from "./http/authentication";
import { resolveOptions, type ServiceOptions } from "./settings/options";
import {
  answersLike,
  type ApiQuirks,
  apiQuirks,
  type ApiQuirksChange,
  overlay,
  timing,
  type Timing,
} from "./settings/settings";
import { type Data, dataOf } from "./store/data";
import { openData } from "./store/open-data";
import type { Organization } from "./store/organizations";

export type { LedgerState } from "./context";
export type { Fault, FaultKind, FaultRule, FaultTarget, Faults } from "./faults";
export type { Call, InFlight } from "./http/call-log";
export { ServiceError } from "./errors";
export type { LedgerOptions, OrganizationOptions, ServiceOptions, TetherOptions, TlsOptions } from "./settings/options";
export type {
  ApiQuirks as Answers,
  ApiQuirksChange as AnswersChange,
  CallLimits,
  DeletedStatus,
  Limits,
  Timing,
} from "./settings/settings";
export type { Collection, Data, ManagedCollection, Tethers } from "./store/data";
export type { Entity, FieldsOf, Kind, ManagedKind, Network } from "./store/entities";
export type { Organization } from "./store/organizations";

/** A running service. */
export interface Service {
  /** `http://HOST:PORT`, or https. */
  readonly url: string;
  /** The base address of the API: `http://HOST:PORT/api/v1`. */
  readonly baseUrl: string;
  readonly port: number;
  /** The API key of the first organization. */
  readonly apiKey: string;
  /** Whether nodes run on real chains. */
  readonly ledger: LedgerState;
  readonly organizations: readonly Organization[];
  /** All calls so far, oldest first. */
  readonly calls: readonly Call[];
  readonly inFlight: Pick<InFlight, "now" | "max" | "reset">;
  readonly faults: { add(rule: FaultRule): Fault; clear(): void };
  /** The data itself, to change it behind a client's back. */
  readonly store: Data;
  /** The current settings. */
  readonly answers: Readonly<ApiQuirks>;
  readonly timing: Readonly<Timing>;
  /** Clears `calls`. */
  clearCalls(): void;
  /** Changes some of the settings in `answers`. */
  setAnswers(answers: ApiQuirksChange): void;
  /** Changes some durations (ms). Operations in progress keep their old duration. */
  setTiming(timing: Partial<Timing>): void;
  /** Adds an organization, by default with a random key. */
  addOrganization(name: string, apiKey?: string): Organization;
  /** Replaces an organization's key with a random one, and returns it. The old key is rejected immediately. */
  rotateKey(name: string): string;
  /** Stops the service and closes open connections. */
  close(): Promise<void>;
}

/** Starts a whole Consortium service in this process. */
export async function startService(given: ServiceOptions = {}): Promise<Service> {
  const options = resolveOptions(given);
  const { buildApp } = await import("./http/app.js");
  const { limits, callLimits } = options;
  const settings = { limits, callLimits, timing: options.timing, quirks: options.answers };
  const { store, organizations, clock, close: closeData } = await openData(options);
  const stopping = new AbortController();
  const warn = (text: string) => process.emitWarning(text, "ConsortiumWarning");
  const base: Base = {
    store,
    settings,
    clock,
    origin: (asked) => listener.origin(asked),
    warn,
    report: reporter(warn),
  };
  const log = new CallLog(options.recordBodies);
  const inFlight = new InFlight();
  const routes = new Set<string>();
  const outages = {
    refuse: (ms: number) => listener.refuse(ms),
    // calls that are waiting when the service stops have no effect
    pause: (ms: number) => waitFor(ms, stopping.signal).catch(() => new Promise<never>(() => undefined)),
  };
  const faults = new Faults(routes, outages.refuse);
  let backend: Backend | undefined;
  let listener: Listener;
  const start = async () => {
    backend = openBackend(options, base);
    const context = { ...base, organizations, tokens: new Tokens(organizations, clock), backend };
    const { app, server } = await buildApp({ context, log, inFlight, faults, outages, routes, options });
    listener = new Listener(server, options, backend.drop);
    await listener.open();
    return { app, backend, context };
  };
  const { app, context, ...opened } = await start().catch(async (error: unknown) => {
    await backend?.close?.();
    await closeData();
    throw error;
  });

  opened.backend.resume?.();

  let closing: Promise<void> | undefined;
  const close = async () => {
    stopping.abort();
    const ended = opened.backend.close?.();
    await listener.close();
    await app.close();
    await ended;
    await closeData();
  };
  const stop = () => (closing ??= close());
  return {
    port: listener!.port,
    ledger: opened.backend.state,
    url: listener!.origin(),
    baseUrl: `${listener!.origin()}/api/v1`,
    get apiKey() {
      return organizations.firstKey;
    },
    get organizations() {
      return organizations.list();
    },
    calls: log.calls,
    clearCalls: () => log.clear(),
    inFlight,
    faults,
    store: dataOf(context),
    get answers() {
      return settings.quirks;
    },
    get timing() {
      return settings.timing;
    },
    setAnswers(change) {
      settings.quirks = checked("setAnswers", apiQuirks, overlay(settings.quirks, answersLike(change)));
    },
    setTiming(change) {
      settings.timing = checked("setTiming", timing, overlay(settings.timing, change));
    },
    addOrganization: (name, apiKey) => organizations.add(name, apiKey),
    rotateKey: (name) => organizations.rotateKey(name),
    close: stop,
  };
}
