// @ts-check
/** Rules of all rooms but `provider/core` and `service`: see ../mutations.mjs. */

/** @type {import("./rules.mjs").Breaks} */
export const roomRules = {
  "provider/api/organization.ts": {
    "provider/api/plan.test.ts": {
      "the plan is that of the key's own organization": [
        "organizations.length > 1 ? await organizationOfKey() : organizations[0]?.id",
        "organizations[0]?.id",
      ],
    },
  },
  "provider/api/token.ts": {
    "provider/api/token.test.ts": {
      "a short run asks for no token": ["++this.#calls > callsBefore &&", ""],
      "a call that is refused with a token is sent with the key": ["    return key;", "    return undefined;"],
      "a token of several organizations is not used": [" || (orgs && orgs.length !== 1)", ""],
    },
  },
  "provider/api/retry.ts": {
    "provider/api/retry.test.ts": {
      "a create that may have been taken is not repeated": ['if (repeatable !== "freely") return undefined;', ""],
      "a lost call is tried six times at most": ["tried.attempt < mostAttempts &&", ""],
    },
  },
  "provider/api/conflict.ts": {
    "provider/api/conflict.test.ts": {
      "a limit of one value is no quota": ['if (found === "quota" && ofOneValue.test(text)) return undefined;', ""],
    },
  },
  "provider/api/http.ts": {
    "provider/api/answers.test.ts": {
      "a 404 in words means missing at an address that answers JSON when asked": [
        "await this.#prove(timeoutMs);",
        "void timeoutMs;",
      ],
    },
    "provider/api/http.test.ts": {
      "after 408, the service may still be at work": ["status === 408 || status === 504", "status === 504"],
    },
  },
  "provider/api/secrets.ts": {
    "provider/api/secrets.test.ts": {
      "of secrets that begin alike, the longest is masked": [
        "[...new Set(plain)].sort(byLength)",
        "[...new Set(plain)]",
      ],
    },
  },
  "provider/api/pages.ts": {
    "provider/api/pages.test.ts": {
      "the key goes to no address with a user name": [
        "next.origin === from.origin && !next.username",
        "next.origin === from.origin",
      ],
      "the total of a list with a filter is not its length": [
        "if (isWhole && total !== undefined && total <= items.length)",
        "if (total !== undefined && total <= items.length)",
      ],
    },
  },
  "provider/api/settings.ts": {
    "provider/api/settings.test.ts": {
      "the key crosses no network in clear text unasked": [
        "&& !allowHttp && !isThisMachine(url)",
        "&& !allowHttp && false",
      ],
    },
    "provider/api/proxy.test.ts": {
      "a proxy on this machine reaches this machine": [
        "isThisMachine(url) && !isThisMachine(new URL(address))",
        "isThisMachine(url)",
      ],
    },
  },
  "provider/resources/zones.ts": {
    "provider/resources/shared.test.ts": {
      "what is itself going keeps no zone": ["!isGone(item) && !isGoing(item)", "!isGone(item)"],
    },
  },
  "provider/resources/tether/deploy.ts": {
    "provider/resources/tether-deploy.test.ts": {
      "a fleet that continues a killed run pays for no second contract": [
        "session.adoptAll || session.createLog.isContinued ||",
        "session.adoptAll ||",
      ],
      "the balance on another network says nothing of a contract": [
        "if (shown?.network && shown.network !== network) {",
        "if (false) {",
      ],
    },
  },
  "provider/resources/tether/configure.ts": {
    "provider/resources/tether-funds.test.ts": {
      "a tether moves only with funds for the other network": ["await fit(session, olds, inputs);", ""],
    },
  },
  "provider/dynamic/host.ts": {
    "provider/dynamic/handler.test.ts": {
      "a state of the plugin is updated before the dynamic provider relies on it": [
        "changes: changes || olds[providerKey] === undefined,",
        "changes,",
      ],
    },
  },
  "plugin/import.ts": {
    "plugin/import.test.ts": {
      "an import by a name that several have is refused": [
        "if (found && others.length > 0) {",
        "if (!found && others.length > 0) {",
      ],
    },
  },
  "plugin/resource.ts": {
    "plugin/service.test.ts": {
      "outputs are unknown in a preview of the plugin": ["...outputsWith(definition, () => unknown),", ""],
      "an input that was secret stays so in the preview that removes it": ["[...secrets, ...old.secrets]", "secrets"],
      "an update of a tether may change all its outputs": ["definition.own !== undefined ||", ""],
    },
  },
  "sdk/network/plan.ts": {
    "sdk/network/names.test.ts": {
      "an entry with a former key keeps its resources": [
        "const keys = [key, ...formerly, ...otherKeys];",
        "const keys = [key];",
      ],
    },
  },
  "sdk/network/rules.ts": {
    "sdk/network/bad-entries.test.ts": {
      "siblings in a network file have different names": [
        "else if (namesake !== undefined)",
        "else if (namesake === entry.key)",
      ],
    },
  },
  "sdk/policy/rules/limits.ts": {
    "policy/limits.test.ts": {
      "a limit itself is allowed, one more is not": ["if (found > max) {", "if (found > max + 1) {"],
    },
    "policy/live.test.ts": {
      "what exists outside the stack counts, where it is asked for": [
        "const found = mine.length + outside.length;",
        "const found = mine.length;",
      ],
    },
  },
  "sdk/runtime/target-chain.ts": {
    "sdk/runtime/verify.test.ts": {
      "a contract of somebody else vouches for no report": ["must(!account || same(account, owner),", "must(true,"],
    },
  },
  "sdk/runtime/node-connections.ts": {
    "sdk/runtime/connect.test.ts": {
      "only 401 means that a node refuses the credential": [
        '!isError(error, "SERVER_ERROR") || error.response?.statusCode !== 401',
        '!isError(error, "SERVER_ERROR") || !error.response',
      ],
    },
  },
  "cli/probe/world.ts": {
    "cli/probe.test.ts": {
      "a create that was not refused may have been done": ["status >= 400 && status < 500 && status !== 408", "true"],
      "a probe deletes by a signal of its own, not by the one that stopped its questions": [
        "(this.signal = this.giveUp)",
        "this.giveUp",
      ],
    },
  },
  "fleet/recovery.ts": {
    "fleet/recovery.test.ts": {
      "attributes of a state that are whole stay": ["if (isTorn) rmSync", "rmSync"],
      "a lock of Pulumi that another machine holds is not cleared": ["host === hostname() &&", ""],
    },
  },
  "fleet/run.ts": {
    "fleet/run.test.ts": {
      "what depends on a stack that was not begun is not begun": [
        "!isGood(one))?.stack",
        'one.outcome === "failed")?.stack',
      ],
      "a fleet sends no Ctrl-C to a Pulumi that heard it in the terminal": ["this.#hasHeard || ", ""],
      "a fleet destroys no stack if it cannot say what will be lost": ["if (plan && !isGood(plan)) return plan;", ""],
    },
  },
  "fleet/secrets.ts": {
    "fleet/secrets.test.ts": {
      "no stack of a fleet inherits the organization of another key": ['["organization", ...(region', "[...(region"],
    },
  },
  "fleet/pulumi.ts": {
    "fleet/run.test.ts": {
      "a fleet refuses a CLI that would write the events of an update into a file": [
        "version.compare(oldest) >= 0",
        "true",
      ],
    },
  },
  "fleet/shards.ts": {
    "fleet/selection.test.ts": {
      "stacks that depend on each other are in one shard": ["links.get(other)!.push(name)", "other"],
    },
  },
  "cli/export/definition.ts": {
    "cli/export-names.test.ts": {
      "names that differ in composition alone are one name in an export": [
        'name.normalize("NFC").trim()',
        "name.trim()",
      ],
    },
  },
  "cli/sweep.ts": {
    "cli/sweep.test.ts": {
      "a member goes in a sweep only with everything that it owns": ["if (others.length > 0) {", "if (false) {"],
    },
  },
  "inventory/plan/changes.ts": {
    "cli/report.test.ts": {
      "a value with a secret in it may have changed": [
        "|| (isObject(value) && Object.values(value).some(holdsSecret))",
        "",
      ],
    },
  },
  "inventory/tethers.ts": {
    "console/observer.test.ts": {
      "a pin is looked for on the chain that it names": ["(pinned === network ? targetUrl : undefined)", "targetUrl"],
    },
  },
  "observe/check/checks.ts": {
    "observe/checks.test.ts": {
      "a pin may be dated a quarter of an hour ahead": ["if (age < -graceMs) {", "if (age < 0) {"],
    },
  },
  "console/server/actions.ts": {
    "console/observer.test.ts": {
      "a console that is read-only verifies reports, and changes nothing": [
        '!options.mayChange && name !== "verify"',
        '!options.mayChange && name === "verify"',
      ],
    },
  },
};
