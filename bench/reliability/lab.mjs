// @ts-check
/** Trials: each builds the network of one of each on a service of its own, while something goes wrong once. */
import { problems, program, remains, tetherId, timing } from "./one-of-each.mjs";
import { on, Stack } from "../lib/stack.mjs";

const apiKey = "reliability-key";

/** @typedef {{ ok: boolean, why: string, ms: number }} Verdict why it is not ok; ms of what was tried */
/** @typedef {import("../../service/index.js").Service} Service */
/** @typedef {import("../lib/stack.mjs").Adapter} Adapter */
/** @typedef {{ service: Service, stack: Stack, env: Record<string, string> }} Bench */

export class Lab {
  /** One stack serves many trials, since a good one leaves it empty. @type {Stack | undefined} */
  #stack;

  /**
   * @param {import("../../tools/lib/pulumi-cli.mjs").PulumiCli} cli
   * @param {typeof import("../../service/index.js")} module
   */
  constructor(cli, module) {
    this.cli = cli;
    this.module = module;
  }

  close() {
    this.#stack?.remove();
    this.#stack = undefined;
  }

  /** The calls that a whole `up` makes when nothing goes wrong, each kind once, in their order. */
  async calls() {
    /** @type {import("./faults.mjs").Call[]} */
    let all = [];
    const { ok, why } = await this.trial("dynamic", async ({ service, stack, env }) => {
      const ended = await stack.up(env);
      all = service.calls.map(({ method, route }) => ({ method, route }));
      return ended;
    });
    if (!ok) throw new Error(`An up without any fault is not exact: ${why}`);
    return all.filter((one, at) => all.findIndex((o) => o.method === one.method && o.route === one.route) === at);
  }

  /**
   * One fault in one `up`, or several at different calls of it.
   * @param {Adapter} adapter
   * @param {import("./faults.mjs").Cell[]} cells
   */
  fault(adapter, ...cells) {
    return this.trial(adapter, async ({ service, stack, env }) => {
      service.setTiming({ listLag: Math.max(...cells.map(({ lag }) => lag)) });
      const faults = cells.map(({ call, kind }) => service.faults.add({ ...call, ...kind.rule, nth: 1, times: 1 }));
      const first = await stack.up(Object.assign({}, env, ...cells.map(({ kind }) => kind.env)));
      // Whether a contract was paid for is not tried out: who has looked says that it was not.
      const unacted = cells.some(({ kind }) => !kind.acted);
      const [, word] = (unacted && /CONSORTIUM_NOT_DEPLOYED=(\S+)/.exec(first.text)) || [];
      const ended = word ? await stack.up({ ...env, CONSORTIUM_NOT_DEPLOYED: word }) : first;
      service.setTiming({ listLag: 0 });
      const hits = faults.map((fault) => fault.hits);
      if (hits.some((count) => count !== 1))
        return { ...ended, code: null, text: `error: the faults hit ${hits.join(", ")} calls` };
      return ended;
    });
  }

  /**
   * Whatever is done has to end well and to leave exactly the network, and a destroy after it has to leave nothing.
   * @param {Adapter} adapter
   * @param {(bench: Bench) => Promise<import("../lib/stack.mjs").Ended>} build
   * @returns {Promise<Verdict>}
   */
  async trial(adapter, build) {
    const organizations = [{ name: "bench", apiKey }];
    const service = await this.module.startService({ organizations, tethers: [{ id: tetherId }], timing });
    const env = { CONSORTIUM_API_KEY: apiKey, CONSORTIUM_BASE_URL: service.baseUrl, ...on(adapter) };
    const stack = (this.#stack ??= await Stack.create(this.cli, { program }));
    try {
      const { code, text, ms } = await build({ service, stack, env });
      const verdict = (/** @type {string} */ why) => ({ ok: why === "", why, ms });
      const judge = async () => {
        if (code !== 0) return verdict(complaint(text));
        const wrong = problems(service, stack.resources());
        if (wrong.length > 0) return verdict(wrong.join("; "));
        const end = await stack.destroy(env);
        if (end.code !== 0) return verdict(`destroy: ${complaint(end.text)}`);
        return verdict(remains(service, stack.resources()).join("; "));
      };
      const result = await judge();
      if (!result.ok) this.close();
      return result;
    } finally {
      await service.close();
    }
  }
}

/** The line that says what went wrong, of all that Pulumi prints. @param {string} text */
function complaint(text) {
  const lines = text.split("\n").map((line) => line.trim());
  return lines.find((line) => /^error|error:|exists, but/i.test(line)) ?? text.trim().slice(-300);
}
