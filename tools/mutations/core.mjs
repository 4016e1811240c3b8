// @ts-check
/** Rules of `provider/core`: see ../mutations.mjs. */

/** @type {import("./rules.mjs").Breaks} */
export const coreRules = {
  "provider/core/lifecycle/update.ts": {
    "provider/stacks/rotation.test.ts": {
      "a new password is kept whatever fails after it": [
        "throw new Incomplete(id, stateOf(definition, after, olds), error);",
        "throw error;",
      ],
    },
    "provider/stacks/asked.test.ts": {
      "drift that a service cannot put right is no reason to replace": ["if (!isDrift) throw refused", "throw refused"],
      "a change that the service ignores is told": [
        "if (ignored.length > 0)\n    session.say(",
        "if (ignored.length > 9)\n    session.say(",
      ],
    },
    "provider/stacks/restart.test.ts": {
      "a restart that failed is a step that is left": ["open: stepsOf(collection, keys, asked.open) };", "open: [] };"],
    },
    "provider/stacks/stays.test.ts": {
      "what stays is remembered, whichever input has asked for it": [
        "? asked[key] : last[key]]",
        "? asked[key] : asked[key]]",
      ],
      "what a program takes over from the console is answered": ["...alreadySo(definition, before, news) ", ""],
    },
  },
  "provider/core/diff.ts": {
    "provider/stacks/rotation.test.ts": {
      "a password is regenerated only where that is asked": [
        "(!isUnset(inputs[key]) && !sameAsked(inputs[key], asked[key])))",
        "!sameAsked(inputs[key], asked[key]))",
      ],
    },
    "provider/core/check.test.ts": {
      "a replacement in another parent needs no deletion first": [
        "sameName === true && !moved &&",
        "sameName === true &&",
      ],
    },
    "provider/stacks/asked.test.ts": {
      "what a service shows is compared with what it answered, not with what is asked": [
        "!sameValue(...watched(meta, inputs[key], shown[key], answered[key]))",
        "!sameValue(shown[key], now[key])",
      ],
      "drift never replaces": [
        "(isReplacing(definition, parts.refused, key) ? found.lasting : found.drifted).push(key);",
        "(isReplacing(definition, parts.refused, key) ? found.changed : found.drifted).push(key);",
      ],
    },
    "provider/stacks/stays.test.ts": {
      "no ledger is replaced for a value that is left out": [
        "if (isUnset(now) || (isUnset(inputs[key]) && sameAsked(now, none)))",
        "if (isUnset(key))",
      ],
      "a change without a clear answer is sent again": [
        "const isUnclear = parts.unclear.includes(key);",
        "const isUnclear = false;",
      ],
      "what others may share is replaced only where it does not fit": ["? !fits : isTheirs", "? false : isTheirs"],
    },
  },
  "provider/core/lifecycle/settle.ts": {
    "provider/stacks/asked.test.ts": {
      "what an answer repeats counts only once a list shows it": ["await watched.confirm();", "{}"],
    },
  },
  "provider/core/lifecycle/read.ts": {
    "provider/resources/rewritten.test.ts": {
      "what a list writes in its own way is no drift": ["...ownFormsIn(definition, before, shown),", ""],
    },
    "provider/resources/drift.test.ts": {
      "a name that somebody has written differently is drift": [
        "if (shown.revision === undefined || shown.revision !== before.revision) return {};",
        "",
      ],
      "what is being deleted is gone for a refresh": [" || isGoing(presence.item)", ""],
    },
  },
  "provider/core/values.ts": {
    "provider/core/values.test.ts": { "an unset argument is the same as none": [" || (isUnset(a) && isUnset(b))", ""] },
    "provider/stacks/stays.test.ts": {
      "what a preview does not know yet may replace": ["normal && !isUnknown(value) ?", "normal ?"],
    },
  },
  "sdk/resources.ts": {
    "provider/stacks/losses.test.ts": {
      "an environment that a program loses is named in the preview": [
        "if (consortium && !opts?.retainOnDelete) environmentsIn",
        "if (consortium && opts?.retainOnDelete) environmentsIn",
      ],
    },
  },
  "provider/core/organization.ts": {
    "provider/core/organization.test.ts": {
      "a key of another organization changes nothing": ["if (both.length === 0) return { foreign: seen };", ""],
      "the owner of an adopted consortium may be another organization": [
        "owner !== undefined && keptIn(state).how === undefined",
        "owner !== undefined",
      ],
    },
    "provider/core/pages.test.ts": {
      "a part of what a key sees proves nothing": ["if (seen.part && !there) throw seen.part;", ""],
    },
  },
  "provider/core/origin.ts": {
    "provider/core/organization.test.ts": {
      "of rotated keys, a state keeps the newest": ["].slice(-mostKeys)", "].slice(0, mostKeys)"],
    },
  },
  "provider/core/collection.ts": {
    "provider/core/collection.test.ts": {
      "what is not listed is gone only when its owner is": ['if (owner === "gone") return "gone";', 'return "gone";'],
    },
    "provider/resources/names.test.ts": {
      "an object with exactly the name of another create belongs to that one": ["&& !this.isClaimed(item[field])", ""],
    },
    "provider/stacks/own-knowledge.test.ts": {
      "what was created a moment ago is not gone": ["Math.abs(serviceNow(session) - madeAt) < unseenMs", "false"],
    },
  },
  "provider/core/wait.ts": {
    "provider/core/wait.test.ts": {
      "siblings that wait share one beat": ["beat - (now % beat)", "beat"],
      "a wait ends with the time of the resource": [
        "Math.min(nextLookMs(looks, now, now - start), deadline.at - now)",
        "nextLookMs(looks, now, now - start)",
      ],
    },
  },
  "provider/core/state.ts": {
    "provider/resources/answers.test.ts": {
      "a password that a list shows masked stays as it is": [
        "sentOnly || secret || elsewhere",
        "sentOnly || elsewhere",
      ],
    },
    "provider/stacks/own-knowledge.test.ts": {
      "where the service does not tell when an object was made, the state does": ["at: isTold ? undefined : at,", ""],
    },
  },
  "provider/core/lifecycle/recognize.ts": {
    "provider/resources/lost-others.test.ts": {
      "a time in whole seconds may be a second earlier than it was": [
        "(/[.,]\\d/.test(String(created)) ? 0 : 999)",
        "0",
      ],
    },
  },
  "provider/core/lifecycle/send-create.ts": {
    "provider/resources/lost-others.test.ts": {
      "of more than a run can have made, none is taken": [
        "if (!first || more.length < lost) return first;",
        "return first;",
      ],
    },
    "provider/resources/lost-credentials.test.ts": {
      "a refusal of undocumented fields is no attempt": [
        "without = undocumented;",
        "without = undocumented; attempt++;",
      ],
    },
    "provider/stacks/own-knowledge.test.ts": {
      "an unclear refusal waits for what this run is making beside it": [
        "isDeleting || (run.unsettled",
        "false && (run.unsettled",
      ],
    },
  },
  "provider/core/lifecycle/continue-killed.ts": {
    "provider/core/create-log.test.ts": {
      "of more than a killed run can have made, none is taken": ["if (found.length > open.length)", "if (false)"],
    },
    "provider/resources/destination.test.ts": {
      "what a state holds already is no other resource's": [
        "id === undefined || createLog.isHeld(collection.pathOf(id)) || isTaken(collection, id)",
        "id === undefined || isTaken(collection, id)",
      ],
    },
  },
  "provider/core/lifecycle/delete.ts": {
    "provider/resources/shared.test.ts": {
      "what was adopted and others may share is never deleted": [
        "if (isAdoptedShared(state)) return leave(",
        "if (false) return leave(",
      ],
    },
  },
  "provider/core/lifecycle/adopt.ts": {
    "provider/stacks/asked.test.ts": {
      "a run that recovers another one takes as its own only what fits whole": [
        'return isRecovered && fits ? undefined : "shared";',
        'return isRecovered ? undefined : "shared";',
      ],
    },
    "provider/stacks/own-knowledge.test.ts": {
      "a name that the service may have written in its own way is taken": [
        "|| isPlainName(inputs[nameKey(definition)!])",
        "|| true",
      ],
    },
    "provider/stacks/stays.test.ts": {
      "what a service shows without a name was not made by a run of the stack": [
        "const fits = isNamed && ",
        "const fits = ",
      ],
    },
  },
  "provider/core/owners.ts": {
    "provider/stacks/own-knowledge.test.ts": {
      "two new resources for one name are refused in the preview": ["if (!twin || ", "if (twin || "],
    },
  },
};
