import { type ConsortiumClient, type Identified } from "../../../provider/api";
import { Http } from "../../../provider/api/http";
import { Collection } from "../../../provider/core/collection";
import { type Definition, type Props } from "../../../provider/core/definition";
import { newSession, type Session, within } from "../../../provider/core/session";
import { definitions } from "../../../provider/resources";
import { base, type Kind } from "../../support/by-kind";
import { settingsFor } from "../../support/peer";
import { VirtualTime } from "../../support/virtual-time";

/* One place in a service whose client answers as a test says, in virtual time. */

export const http = new Http(settingsFor("https://x/api/v1", { requestTimeout: 10 }));
export const me = { key: "me", name: "me" };

export type Prepare = (session: Session, collection: Collection, clock: VirtualTime) => void;

export interface Place {
  kind: Kind;
  inputs?: Props | undefined;
  /** The id of the object, if it is there. */
  id?: string;
  limitMs?: number | undefined;
  prepare?: Prepare | undefined;
}

interface Answers extends Partial<Record<keyof ConsortiumClient, unknown>> {
  /** What is in the place. */
  listed?: () => Identified[];
  /** What any other list has. */
  elsewhere?: (where: string) => Identified[];
  serviceTime?: (ms: number) => number | undefined;
}

export function placed(
  { kind, inputs, id, limitMs, prepare }: Place,
  answersAt: (clock: VirtualTime) => Answers,
  given: Partial<Session> = {},
) {
  const clock = new VirtualTime();
  const said: string[] = [];
  const definition: Definition = definitions[kind];
  const args = { ...base[kind], ...inputs };
  const path = definition.place(args).collection;
  const answers = answersAt(clock);
  const { listed = () => [], elsewhere = () => [{ id: "c" }, { id: "e" }], ...calls } = answers;
  const { serviceTime = () => undefined, ...more } = calls;
  const client = {
    list: (where: string) => Promise.resolve(where === path ? listed() : elsewhere(where)),
    find: () => Promise.resolve(undefined),
    until: () => client,
    http: { settings: http.settings, serviceTime },
    ...more,
  } as unknown as ConsortiumClient;
  const whole = newSession(client, { clock, say: (line) => void said.push(line), resource: me, ...given });
  const session = limitMs === undefined ? whole : within(whole, limitMs);
  const collection = Collection.of(session, definition, args, id);
  prepare?.(session, collection, clock);
  return { collection, session, clock, said };
}
