import { setTimeout as wait } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { buildApp } from "./http/app";
import { CallLog, InFlight, type Call } from "./http/call-log";
import type { Context } from "./context";
import { Data } from "./store/data";
import { Faults } from "./faults/rules";
import { openLedger, type LedgerState, type OpenLedger } from "./real-chains";
import { Listener } from "./http/listener";
import { checked, resolve, type ServiceOptions } from "./settings/options";
import { addOrganization, openState, organizations, rotateKey, type Organization } from "./store/organizations";
import {
  answersSchema,
  overlay,
  overlayAnswers,
  timingSchema,
  type Answers,
  type AnswersChange,
  type Timing,
} from "./settings/answers";

export type { Call, InFlight } from "./http/call-log";
export type { Collection, Data, ManagedCollection, Tethers } from "./store/data";
export type { Entity, FieldsOf, Kind, ManagedKind, Network } from "./store/entities";
export { ServiceError } from "./http/errors";
export type { Fault, FaultKind, FaultRule, FaultTarget, Faults } from "./faults/rules";
export type { LedgerOptions, OrganizationOptions, ServiceOptions, TetherOptions, TlsOptions } from "./settings/options";
export type { LedgerState } from "./real-chains";
export type { Answers, AnswersChange, DeletedStatus, Limits, Timing } from "./settings/answers";
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
  /** Whether real chains stand behind the nodes. */
  readonly ledger: LedgerState;
  readonly organizations: readonly Organization[];
  /** All calls so far, oldest first. */
  readonly calls: readonly Call[];
  readonly inFlight: Pick<InFlight, "now" | "max" | "reset">;
  readonly faults: Pick<Faults, "add" | "clear">;
  /** The data itself, to change it behind a client's back. */
  readonly store: Data;
  /** The settings in force. */
  readonly answers: Readonly<Answers>;
  readonly timing: Readonly<Timing>;
  /** Forgets the calls so far. */
  clearCalls(): void;
  /** Changes some of the answers. */
  setAnswers(answers: AnswersChange): void;
  /** Changes some of the durations (ms); what is under way keeps its time. */
  setTiming(timing: Partial<Timing>): void;
  /** Adds an organization; its key is random if none is given. */
  addOrganization(name: string, apiKey?: string): Organization;
  /** Gives an organization a new random key, and answers it. The old one is refused from now on. */
  rotateKey(name: string): string;
  /** Stops at once; open connections are closed. */
  close(): Promise<void>;
}

/** Starts a whole Consortium service in this process. */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const resolved = resolve(options);
  const settings = { limits: resolved.limits, timing: resolved.timing, answers: resolved.answers };
  const state = await openState(resolved);
  const { clock } = state;
  const stopping = new AbortController();
  const context: Context = {
    ...{ store: state.store, keys: state.keys, settings, clock, origin: (asked) => listener.origin(asked) },
    warn: (text) => process.emitWarning(text, "ConsortiumWarning"),
    noLedger: "it is switched off",
  };
  const log = new CallLog(resolved.recordBodies);
  const inFlight = new InFlight();
  const routes = new Set<string>();
  const stage = {
    refuse: (ms: number) => listener.refuse(ms),
    // a call that is still waiting when the service stops is not acted on
    pause: (ms: number) =>
      wait(ms, undefined, { signal: stopping.signal }).catch(() => new Promise<never>(() => undefined)),
  };
  const faults = new Faults(routes, stage.refuse);
  const { tls, host, port } = resolved;
  let opened: OpenLedger | undefined;
  let app: FastifyInstance;
  let listener: Listener;
  try {
    opened = openLedger(resolved, context);
    const built = await buildApp({
      ...{ context, log, inFlight, faults, stage, routes, options: resolved, ledger: opened },
    });
    app = built.app;
    listener = new Listener(built.server, host, port, tls !== undefined, () => opened?.drop());
    await listener.open();
  } catch (error) {
    await opened?.close();
    await state.close();
    throw error;
  }
  opened?.resume();

  let closing: Promise<void> | undefined;
  const close = async () => {
    stopping.abort();
    const ended = opened?.close();
    await listener.close();
    await app.close();
    await ended;
    await state.close();
  };
  const first = resolved.organizations[0]!.name;
  return {
    port: listener.port,
    ledger: opened ? "on" : resolved.ledger ? "missing" : "off",
    url: listener.origin(),
    baseUrl: `${listener.origin()}/api/v1`,
    get apiKey() {
      return state.keys.get(first)!;
    },
    get organizations() {
      return organizations(state);
    },
    calls: log.calls,
    clearCalls: () => log.clear(),
    inFlight,
    faults,
    store: new Data(context),
    get answers() {
      return settings.answers;
    },
    get timing() {
      return settings.timing;
    },
    setAnswers(answers) {
      settings.answers = overlayAnswers(settings.answers, checked("setAnswers", answersSchema, answers));
    },
    setTiming(timing) {
      settings.timing = overlay(settings.timing, checked("setTiming", timingSchema, timing));
    },
    addOrganization: (name, apiKey) => addOrganization(state, name, apiKey),
    rotateKey: (name) => rotateKey(state, name),
    close: () => (closing ??= close()),
  };
}
