import { type ConsortiumClient, systemClock } from "../provider/api";
import { environmentName, processEnvironment } from "../provider/api/environment";
import { type Definition } from "../provider/core/definition";
import { proveSeen, subjectOf } from "../provider/core/organization";
import { Origins } from "../provider/core/origins";
import { newSession } from "../provider/core/session";
import { definitions } from "../provider/resources";
import { type ObjectKind } from "./model";
import { recordsIn } from "./stack";

const definitionOf: Record<ObjectKind, Definition> = {
  ...definitions,
  ...{ credential: definitions.appCred, tether: definitions.tetherService },
};

/**
 * Holds before what a stack has is looked for: what a key of another organization does not show is not gone.
 * @throws UserError that says whose the stack is, and whose the key
 */
export async function proveKeyOf(client: ConsortiumClient, document: unknown, what: string): Promise<void> {
  const confirmed = (processEnvironment()[environmentName("confirmDeleted")] ?? "").split(/[\s,]+/);
  const origins = new Origins(new Set(confirmed));
  for (const { kind, id, props } of recordsIn(document, what))
    if (id !== undefined) origins.saw(subjectOf(definitionOf[kind], id, props));
  await proveSeen(newSession({ client, clock: systemClock, say: () => undefined, adoptAll: false, origins }));
}
