/*
 * Every time in the core, in milliseconds unless its name says otherwise: how old a list may be, how far a service may lag behind itself,
 * how long to wait, and how often to look. Each comment ends with the files that use it. Lint rejects a time anywhere else in the core
 * and in what resources share. What only one kind needs is in its file: `timeouts`, `silentMs` of tethers.
 */

export const times = {
  /* How old a list may be, so that siblings share a call. This process also knows what it makes and deletes itself. */

  /** While waiting: short enough that each look is news. collection.ts, wait.ts, change.ts, send-create.ts, environment.ts */
  waitingAgeMs: 400,
  /** Siblings that are deleted together: a DELETE is followed at once by a look. delete.ts */
  deletingAgeMs: 100,
  /** What is in an object that is to be deleted. inside.ts */
  insideAgeMs: 1_000,
  /** To tell whether a name is taken. create.ts */
  siblingsAgeMs: 5_000,
  /** In a refresh, which asks once for each object. read.ts */
  refreshAgeMs: 10_000,
  /** For what rarely changes: parents, members, and names that nobody changes in this run. adopt.ts, delete.ts, invitation.ts, tether/read.ts */
  steadyAgeMs: 10_000,

  /* How far a service may lag behind itself. */

  /** It may not show, or not know everywhere, an object that it has just created. collection.ts, session.ts, send-create.ts, tether/activation.ts */
  unseenMs: 10_000,
  /** The longest lag of a list that anything waits for. wait.ts, send-create.ts */
  longestLagMs: 60_000,
  /** After a list without an object, another one this much later has to lack it, too: then it is gone. collection.ts, adopt.ts, delete.ts */
  goneMs: 3_000,
  /** A list may show an object as it was before a change. change.ts */
  changeLagMs: 3_000,
  /** A name was just given up, or its resource is not registered yet: the only look again before it is refused. adopt.ts */
  takenLagMs: 1_000,
  /** The object of a create whose answer was lost may appear this late; not so late if the service refused it. send-create.ts */
  lostLagMs: { lost: 2_500, refused: 1_200 },
  /** It may still list what it has deleted. delete.ts */
  deletedLagMs: 5_000,
  /** A parent may still look full after something in it was deleted. delete.ts */
  emptiedLagMs: 10_000,
  /** It may still list what it answers 404 for. After that, it is reported as one that cannot be deleted. delete.ts */
  stillListedMs: 20_000,
  /** It may act this long on a request whose sender was killed. recognize.ts */
  actsWithinMs: 10_000,
  /** The time that a stack measured and the one that the service shows are the same if they are this close. state.ts */
  sameTimeMs: 5_000,

  /* How long to wait. */

  /** What a verb may take, in seconds, unless its resource or the user says otherwise (contract, "Resources"). definition.ts */
  verbSeconds: { create: 300, update: 300, delete: 300 },
  /** A refresh, which Pulumi does not limit. verbs.ts */
  refreshMs: 300_000,
  /** For an object that a service may leave as it is until something is put into it. wait.ts */
  emptyMs: 20_000,
  /** A preview waits no longer for the service. sessions.ts, verbs.ts */
  previewMs: 5_000,
  /** A deletion that is refused for a reason that may pass, by the kind of the refusal. delete.ts */
  refusedMs: { conflict: 120_000, invalid: 20_000 },
  /** A name of something that is being deleted, or that this run renames: a create waits for it. adopt.ts */
  nameFreedMs: 60_000,
  /** A service that lacks a kind is asked for it again: it may be a newer version. tree.ts */
  lackingMs: 600_000,
  /** The states of a stack are shown within this time, even if what is created depends on none of them. organization.ts */
  statesShownMs: 300,
  /** A log of creates that is older proves nothing any more: somebody has long put it right by hand. stack-log.ts */
  logKeptMs: 30 * 24 * 3_600_000,

  /* How often to look, and to tell. */

  /** At something that changes by itself, outside of `waitFor`. collection.ts, adopt.ts, delete.ts */
  lookEveryMs: 1_000,
  /** For the object of a lost create: often at first, then more rarely, because that does not help a slow service. send-create.ts */
  lostEveryMs: { first: 500, then: 2_000 },
  /** For what a killed run may have created. recognize.ts */
  killedEveryMs: 2_000,
  /** At what is waited for: the first times. wait.ts */
  firstWaitsMs: [500, 1_000, 2_000],
  /** Then at times that all siblings share. A node takes 30 to 60 seconds to start (spec, section 8): more often then. wait.ts */
  waitEveryMs: { steady: 4_000, likely: 1_500, likelyFrom: 30_000, likelyTo: 50_000 },
  /** Lines of progress: ever more rarely, but often enough for pipelines that kill jobs after ten silent minutes. wait.ts */
  progressDueMs: [10_000, 30_000, 60_000, 120_000, 300_000],
  /** A call that is repeated after a shorter pause is not reported. sessions.ts */
  toldPauseMs: 2_000,
  /** Whether the engine is still there, after it has closed the idle connection. engine.ts */
  engineEveryMs: 250,
};
