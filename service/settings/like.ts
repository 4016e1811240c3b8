import type { ApiQuirksChange, Timing } from "./settings";
import { apiQuirks, overlay } from "./settings";

/** What is known of the hosted service, where that differs from the specification: see docs/reference/embedded-service.md. */
const hosted = {
  answers: {
    like: "hosted",
    foundingMembership: true,
    refuseEarlyDelete: false,
    environmentsWait: true,
    deletion: "delete_pending",
    plainErrors: true,
    bareAddresses: true,
    autopauseNames: true,
    quorumStatus: true,
    emptyUrls: true,
    provisioning: true,
    deleteZones: 405,
    tetherAccounts: false,
    tetherConfig: true,
  },
  timing: { deleting: 500 },
} as const satisfies { answers: ApiQuirksChange; timing: Partial<Timing> };

const defaults: Readonly<Record<string, unknown>> = apiQuirks.parse({});
const specification = Object.fromEntries(Object.keys(hosted.answers).map((name) => [name, defaults[name]]));

/** A change of answers with all that its `like` stands for. Settings that are given besides count. */
export function answersLike(change: ApiQuirksChange): ApiQuirksChange {
  if (change.like === undefined) return change;
  return overlay(change.like === "hosted" ? hosted.answers : specification, change) as ApiQuirksChange;
}

interface Given {
  answers?: ApiQuirksChange | undefined;
  timing?: Partial<Timing> | undefined;
}

/** The options of a service with all that `answers.like` stands for. */
export function optionsLike<Options extends Given>(given: Options): Options {
  if (given.answers?.like !== "hosted") return given;
  return { ...given, answers: answersLike(given.answers), timing: overlay(hosted.timing, given.timing) };
}
