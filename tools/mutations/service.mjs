// @ts-check
/** Rules of `service`: see ../mutations.mjs. */

/** @type {import("./rules.mjs").Breaks} */
export const serviceRules = {
  "service/http/host-check.ts": {
    "service/http/host-check.test.ts": {
      "a web page of another origin is refused": [
        "if (origin !== undefined && !isOwnOrigin",
        "if (origin === undefined && !isOwnOrigin",
      ],
      "only where others may reach it, any address is its own": ["!(open && isIP(name) > 0)", "!(isIP(name) > 0)"],
    },
  },
  "service/http/authentication.ts": {
    "service/http/authentication.test.ts": {
      "the body of a call without a key is not read": [
        "if (!request.organization && !request.fault) throw unauthorized(request);",
        "",
      ],
    },
    "service/ledger/real-ledger.test.ts": {
      "a pair opens nodes of its own environment only": [
        "const own = credential?.parent === node?.parent && ",
        "const own = ",
      ],
      "a pair opens nodes of its own member only": [
        " && credential?.fields.membership_id === node?.fields.membership_id;",
        ";",
      ],
    },
    "service/routes/kinds.test.ts": {
      "a pair opens the shared services of its own environment only": [
        " && credential?.parent === environmentId;",
        ";",
      ],
    },
    "service/routes/account.test.ts": {
      "a token without a good signature is none": [
        "more.length > 0 || !isSame(signature, this.#sign(`${head}.${body}`))",
        "more.length > 0",
      ],
      "a token ends after its hour": ["!data || this.clock() >= data.exp * 1_000", "!data"],
      "a token ends with its key": ["this.#mark(hash) === data.key", "this.#mark(hash) !== data"],
    },
  },
  "service/routes/consortia.ts": {
    "service/terraform.test.ts": {
      "what is being deleted holds up no consortium": ["!isGoing(one) && !one.fields.founding", "!one.fields.founding"],
    },
  },
  "service/http/turns.ts": {
    "service/http/turns.test.ts": {
      "a caller that has spent its time waits": ["one.paid <= performance.now() && this.#isFree", "this.#isFree"],
      "work that is about to begin counts as work of its round": [
        "this.#used < round && !this.#granted",
        "this.#used < round",
      ],
    },
  },
  "service/http/server.ts": {
    "service/http/connections.test.ts": {
      "an answer that is larger than what may be unread is sent where nothing is unread": [
        "if (before > 0 && before + payload.length > most)",
        "if (before + payload.length > most)",
      ],
      "a change that was made is answered, whatever is unread": [' || request.method !== "GET"', ""],
      "a connection is idle until its request is there": [
        "if (bytes === 0) idle.delete(socket);",
        "if (bytes >= 0) idle.delete(socket);",
      ],
      "bodies that do not come take no more than 64 MiB": ["if (sum > mostComing)", "if (sum < 0)"],
    },
  },
  "service/routes/target-networks.ts": {
    "service/http/connections.test.ts": {
      "a call without a key counts as under way once its body is there": [
        "rate.take(request.ip, 1, reply);",
        "entered(request, reply);",
      ],
    },
  },
  "service/store/usage.ts": {
    "service/store/quotas.test.ts": {
      "an organization with all its objects may change them": [
        "if (before === undefined && objects >= most)",
        "if (objects >= most)",
      ],
      "what shrinks is within the quota of bytes": [
        "if (more > 0 && bytes + more > mostBytes)",
        "if (bytes + more > mostBytes)",
      ],
      "what shrinks needs no memory": [
        "if (more > 0 && this.#all + more > this.room)",
        "if (this.#all + more > this.room)",
      ],
      "deleted objects take room as old versions do": ["} else this.#grown(kept, key, bytes);", "}"],
    },
  },
  "service/routes/crud.ts": {
    "service/store/states-over-time.test.ts": {
      "nothing is made in what is being deleted": ["if (isGoing(parent))", "if (false)"],
      "what is being deleted is not deleted again": [
        "isGoing(entity) ? entity : deleteObject(context, entity)",
        "deleteObject(context, entity)",
      ],
    },
    "service/routes/fields.test.ts": {
      "what a body names is in the same place": [
        "if (found?.parent !== making[place].id ||",
        "if (found === undefined ||",
      ],
    },
    "service/routes/sharing.test.ts": {
      "nobody makes anything in another member's name": [
        'if (kind === "membership") refuseOthers(organization.id, found);',
        "",
      ],
      "details of another organization's service are not shown": ["{ ...shown, details: undefined }", "shown"],
    },
  },
  "service/ledger/screening.ts": {
    "service/ledger/node-calls.test.ts": {
      "a node signs for its own account only": ['method === "personal_sign" ? second :', ""],
    },
    "service/ledger/screening.test.ts": {
      "calls of a simulation without gas share what the others leave": ["limits.gas - Number(named)", "limits.gas"],
    },
  },
  "service/tether/real-tethers.ts": {
    "service/store/synced.test.ts": {
      "a deployment is on disk before it is sent": ["await this.store.synced();", ""],
      "a pin is on disk before it is sent": ["await this.base.store.synced();", ""],
    },
    "service/tether/real-tethers.test.ts": {
      "an activation during a pin makes a report of its own": [
        "if (still.nextPin !== nextPin) return still.nextPin;",
        "",
      ],
    },
  },
  "service/store/entities.ts": {
    "service/store/data.test.ts": {
      "a state that was set does not go on by itself": [
        "entity.due !== undefined && at >= entity.due",
        "at >= (entity.due ?? 0)",
      ],
    },
  },
  "service/tether/accounts.ts": {
    "service/store/persistence.test.ts": {
      "the key of a tether's account is the one that it had": [
        "fields.keyChecksum !== undefined && fields.keyChecksum !== sha256(key)",
        'fields.keyChecksum === ""',
      ],
    },
  },
  "service/ledger/calls.ts": {
    "service/ledger/calls.test.ts": {
      "calls of a batch that come after its time are not made": [
        'if (performance.now() >= end) throw new Excess("late");',
        "",
      ],
    },
  },
  "service/ledger/chain-base.ts": {
    "service/ledger/time.test.ts": {
      "a clock that is set back stops no block": ["this.clock.saw(head.timestamp * 1_000);", ""],
    },
  },
  "service/ledger/sealing.ts": {
    "service/ledger/idle.test.ts": {
      "a ledger that nobody uses makes no empty blocks": ["(onDemand || this.#isIdle())", "onDemand"],
      "a transaction that waits in an idle ledger gets its block": [
        "this.#isIdle()) && (await pending(engine)) === 0",
        "this.#isIdle())",
      ],
    },
  },
  "service/ledger/subscriptions.ts": {
    "service/ledger/idle.test.ts": {
      "a WebSocket keeps its ledger awake only while it has a subscription": [
        "if (this.#made.size === 0) this.#release();",
        "",
      ],
    },
  },
  "service/ledger/pool.ts": {
    "service/ledger/pool.test.ts": {
      "a transaction makes room only for those of its own account": [
        "(one) => one.queued && one.from === from",
        "(one) => one.queued",
      ],
      "a transaction that replaces another needs no room": [
        "former === undefined ? this.#whyFull(one) : undefined",
        "this.#whyFull(one)",
      ],
    },
  },
  "service/tether/targets.ts": {
    "service/tether/real-tethers.test.ts": {
      "the address of a public chain is shown without its query": [
        'pathname === "/" && search === ""',
        'pathname === "/"',
      ],
    },
  },
  "service/http/bodies.ts": {
    "service/routes/endpoints.test.ts": {
      "a field that can change may be emptied": [
        "(Object.hasOwn(rules.shape, name) || !isEmpty(value))",
        "!isEmpty(value)",
      ],
    },
  },
  "service/http/call-log.ts": {
    "service/routes/kinds.test.ts": {
      "details are in no log of calls": ['name === "details" || soundsSecret.test(name)', "soundsSecret.test(name)"],
    },
  },
  "service/faults.ts": {
    "service/routes/embedded.test.ts": {
      "an organization's fault hits no call of another one": [
        "(entry.owner !== undefined && entry.owner !== owner)",
        'entry.owner === ""',
      ],
    },
  },
  "service/routes/services.ts": {
    "service/routes/kinds.test.ts": {
      "a path names a service of its own type": ["found?.fields.service !== type ||", "!found ||"],
    },
  },
  "service/routes/nodes.ts": {
    "service/routes/nodes.test.ts": {
      "an account of a ledger never passes to another member": [
        "owners[index] === membership",
        "owners[index] !== undefined",
      ],
    },
  },
  "console/server/access.ts": {
    "console/access.test.ts": {
      "a page of another port of this machine does not open the console": [
        'site === undefined || site === "same-origin"',
        'site === undefined || site === "same-site" || site === "same-origin"',
      ],
      "a link to the console that nobody has used expires": ["if (this.now() >= expires)", "if (expires < 0)"],
    },
  },
  "console/server/app.ts": {
    "console/access.test.ts": {
      "no web page gets a link to the console": ["headers.origin !== undefined || !isKeyHolder", "!isKeyHolder"],
      "signing out ends the pages of one session": [
        "if (own === session) page.close",
        "if (own !== undefined) page.close",
      ],
    },
  },
  "observe/check/checks.ts": {
    "observe/checks.test.ts": {
      "only a node that answers may be in another state than started": [
        'verdict.outcome === "failed" && nodes.get(id)?.kind === "answered"',
        'verdict.outcome === "failed"',
      ],
      "a credential that is not listed is wrong only where all are": ["if (!isListed && allListed)", "if (!isListed)"],
    },
  },
  "observe/check/new-blocks.ts": {
    "observe/new-blocks.test.ts": {
      "a young raft ledger does not count as one that makes blocks by time": [
        "blocks.length === looksBack && gaps",
        "gaps",
      ],
      "a transaction that a node may have is not sent again": ["if (error instanceof TooSlow) throw error;", ""],
    },
  },
  "service/routes/account.ts": {
    "service/routes/account.test.ts": {
      "a token is given for the caller's own key": [
        "organizations.ofKey(apikey)?.id !== id",
        "organizations.ofKey(apikey) === undefined",
      ],
    },
  },
  "service/ledger/ledger.ts": {
    "service/routes/actions.test.ts": {
      "a pause ends where it began": ["Math.min(at, since) - before", "Math.min(at, since)"],
      "a paused ledger answers nobody": ['if (now.state === "paused")', "if (false)"],
    },
    "service/routes/hosted.test.ts": {
      "the ledger of an environment that is being deleted does not come back": [
        "if (!now || isGoing(now))",
        "if (!now)",
      ],
    },
  },
  "service/ledger/chains.ts": {
    "service/ledger/chains.test.ts": {
      "a chain starts again only once it has ended": ["if (ending) return ending.then(() => this.get(spec));", ""],
    },
  },
  "service/routes/actions.ts": {
    "service/routes/actions.test.ts": {
      "a new password replaces the former one": [
        'store.setFields("credential", found.id, { passwordHash })',
        'store.setFields("credential", found.id, {})',
      ],
      "whoever came in with a former password goes": ["backend.removed?.([changed]);", ""],
    },
  },
  "service/routes/environments.ts": {
    "service/routes/hosted.test.ts": {
      "an environment that waits starts with its first node": [
        "if (!settings.quirks.environmentsWait ||",
        "if (settings.quirks.environmentsWait ||",
      ],
    },
    "service/routes/sharing.test.ts": {
      "an environment with nodes of others stays": ["if (others !== undefined) return", "if (false) return"],
    },
  },
  "service/store/store.ts": {
    "service/routes/hosted.test.ts": {
      "what was deleted and is still listed is in no environment": [".filter((entity) => !isGone(entity, at));", ";"],
    },
  },
  "service/http/app.ts": {
    "service/routes/hosted.test.ts": { "errors of what only this service has stay JSON": ["(?!embedded)", ""] },
  },
  "service/routes/tether.ts": {
    "service/routes/hosted.test.ts": {
      "a tether without an account shows none": [
        "settings.quirks.tetherAccounts || fields.hasAccount",
        "true || fields.hasAccount",
      ],
    },
  },
  "service/store/sharing.ts": {
    "service/routes/sharing.test.ts": {
      "the consortium of another organization is its members' alone": [
        "isMember(base, organization, entity.id) : !privateKinds",
        "true : !privateKinds",
      ],
      "credentials and configurations are shared with nobody": [": !privateKinds.has(entity.kind)", ": true"],
      "nobody changes what is another organization's": [
        "if (entity.organization !== organization)\n    throw",
        "if (false)\n    throw",
      ],
      "an invitation is accepted once": ['if (invitation.state !== "sent")', "if (false)"],
    },
  },
};
