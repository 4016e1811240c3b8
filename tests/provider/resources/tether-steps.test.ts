import { noLog } from "../../../provider/core/create-log";
import { type Props } from "../../../provider/core/definition";
import { storedKey } from "../../../provider/core/state";
import { Incomplete } from "../../../provider/errors";
import { begin, configure, stop } from "../../../provider/resources/tether/configure";
import { setEnvironment } from "../../support/service";
import { type Answers, busy, missing, refusal, type Step, tether } from "./tether-client";

/* The steps of a tether service: which are taken, in which order, and what the state keeps of them if one fails. */

interface Case {
  news?: Props;
  olds?: Props;
  /** Evidence that it has run. */
  ran?: string;
  answers?: Answers;
  adoptAll?: boolean;
  isContinued?: boolean;
  limitMs?: number;
}

const wanted = { tetherId: "t", network: "rinkeby", intervalHours: 2 };
const account = { account: "0x1", balanceWei: "9" };
const active: Props = { ...wanted, ...account, active: true, state: "active", deployedNetworks: ["rinkeby"] };

async function doing(given: Case, act: "begin" | "configure" | "stop" = "configure") {
  const { news = {}, olds = {}, answers = {}, limitMs = 300_000 } = given;
  const createLog = { ...noLog, isContinued: given.isContinued === true };
  const { session, steps, said, clock } = tether(
    { look: [missing], account: [account], reports: [0], ...answers },
    limitMs,
    { createLog, adoptAll: given.adoptAll === true },
  );
  const args = { ...wanted, ...news };
  const work = (): Promise<Props | void> => {
    if (act === "begin") return begin(session, args);
    return act === "stop" ? stop(session, "t", olds) : configure(session, olds, args, given.ran);
  };
  const outcome: { state: Props | undefined; error: string } = await work().then(
    (state) => ({ state: state ?? undefined, error: "" }),
    (error: Error) => ({ state: error instanceof Incomplete ? error.state : undefined, error: error.message }),
  );
  const kept = (outcome.state?.[storedKey] ?? {}) as { deployment?: Record<string, Props> };
  return { ...outcome, kept, steps, said: said.join("\n"), took: clock.now() };
}

const looked = (shown: Props, ...more: unknown[]): Case["answers"] => ({ look: [shown, ...more] });

describe("a tether that no state describes", () => {
  const whole: Step[] = ["network", "interval", "account", "look", "reports", "deploy", "start"];

  test.each<[string, Case, Step[], Props, RegExp | ""]>([
    [
      "is not started, if it is not to be",
      { news: { active: false } },
      ["look", "reports", "stop", ...whole.slice(0, 6)],
      { state: "inactive" },
      "",
    ],
    [
      "is not stopped before, if it is shown",
      { news: { active: false }, answers: looked({ state: "inactive" }) },
      ["look", ...whole.slice(0, 6)],
      { state: "deployed" },
      "",
    ],
    [
      "is tried before it is paid for, if it has made reports",
      { answers: { reports: [3] } },
      ["look", ...whole.slice(0, 5), "start"],
      { state: "active" },
      /the contract is deployed on rinkeby: it has made 3 reports\. It is not sent again/,
    ],
    [
      "is taken as it is, if that is right",
      { answers: looked({ network: "rinkeby", interval: 2, state: "active" }) },
      ["look", "account"],
      { state: "active" },
      /^$/,
    ],
    [
      "is stopped, if its interval differs",
      { answers: looked({ network: "rinkeby", interval: 3, state: "active" }) },
      ["look", "stop", "interval", "account", "start"],
      { state: "active", intervalHours: 2 },
      /Warning: .*it was running, although this stack had not started it/,
    ],
    [
      "is stopped, if its network differs",
      {
        answers: {
          balance: ["5"],
          look: [...Array<Props>(2).fill({ network: "mainnet", interval: 2, state: "active" }), { network: "rinkeby" }],
        },
      },
      ["look", "look", "account", "balance", "stop", "network", "account", "look", "deploy", "start"],
      { network: "rinkeby" },
      /Warning: .*it was running/,
    ],
  ])("%s", async (_, given, steps, shows, line) => {
    const { error, state, steps: taken, said } = await doing(given, "begin");
    expect([error, taken]).toEqual(["", steps]);
    expect(state).toMatchObject(shows);
    expect(said).toMatch(line);
  });

  test("is not said to be missing because its account is", async () => {
    const network = [refusal("missing", "no", "GET /tether/t/account")];
    const { error, state } = await doing({ answers: { network } }, "begin");
    const why = /^tether service "t": .*GET \/tether\/t\/account: no\.$/;
    expect([error, state]).toEqual([expect.stringMatching(why), undefined]);
  });

  test("is kept as far as it came", async () => {
    const { error, state } = await doing({ answers: { interval: [refusal("invalid")] } }, "begin");
    expect(error).toContain("What was done so far is kept");
    expect(state).toMatchObject({ network: "rinkeby", state: "configured" });
  });

  test("waits for a contract that was just paid for, and no other", async () => {
    const start = [refusal("conflict", "deploy it first"), {}];
    expect((await doing({ answers: { start } }, "begin")).state).toMatchObject({ state: "active" });
    for (const state of ["deployed", undefined])
      // undefined: nobody saw the answer to an earlier start
      expect((await doing({ olds: { ...active, state }, answers: { start } })).error).toBe("");
    const stopped = await doing({ olds: { ...active, state: "inactive" }, answers: { start } });
    expect(stopped.error).toContain("deploy it first");
  });
});

describe("a change of a tether", () => {
  test.each<[string, Case, Step[], Props]>([
    [
      "of one that may run stops it",
      { olds: { state: undefined }, news: { active: false } },
      ["look", "account", "stop"],
      { state: "inactive" },
    ],
    ["keeps what the account showed, if it shows none", { answers: { account: [{}] } }, ["account"], account],
  ])("%s", async (_, { olds, ...given }, steps, shows) => {
    const { error, steps: taken, state } = await doing({ ...given, olds: { ...active, ...olds } });
    expect([error, taken]).toEqual(["", steps]);
    expect(state).toMatchObject(shows);
  });

  test.each<[string, Case, boolean]>([
    ["is refused without funds there", { answers: { balance: ["0"] } }, true],
    [
      "is not, if a contract is shown there",
      { answers: { balance: ["0"], look: [{ deployed_networks: ["mainnet"] }] } },
      false,
    ],
  ])("to another network %s", async (_, { olds, ...given }, refused) => {
    const { error, steps, state } = await doing({
      ...given,
      news: { network: "mainnet" },
      olds: { ...active, ...olds },
    });
    expect(error).toMatch(
      refused ? /the account 0x1 has 0 wei on mainnet.* The tether stays on rinkeby, unchanged\.$/ : /^$/,
    );
    expect([steps.includes("network"), state === undefined]).toEqual([!refused, refused]);
  });

  test.each<[string, Case["answers"], Step[], RegExp]>([
    [
      "stops it, if somebody else has started it",
      { interval: [busy, {}] },
      ["interval", "stop", "interval", "account", "start"],
      /^$/,
    ],
    [
      "fails, if it was not running",
      { interval: [busy], stop: [refusal("invalid")] },
      ["interval", "stop"],
      /POST \/tether\/t: no\..* What was done so far is kept/,
    ],
    [
      "fails, if it cannot be stopped",
      { interval: [busy], stop: [refusal("denied", "never")] },
      ["interval", "stop"],
      /never/,
    ],
    [
      "fails, if the refusal says more",
      { interval: [refusal("invalid")] },
      ["interval"],
      /What was done so far is kept: run `pulumi up` again/,
    ],
  ])("that is refused %s", async (_, answers, steps, why) => {
    const {
      error,
      steps: taken,
      said,
    } = await doing({ news: { intervalHours: 3 }, olds: { ...active, state: "inactive" }, answers });
    expect([error, taken]).toEqual([expect.stringMatching(why), steps]);
    expect(said.includes("it was running")).toBe(steps.includes("start"));
  });

  test.each<[string, Case, Props, string[]]>([
    [
      "keeps the old value after a refusal",
      { news: { intervalHours: 3 }, answers: { interval: [refusal("invalid")] } },
      { intervalHours: 2, state: "inactive", active: false },
      [],
    ],
    [
      "forgets the network, if nobody knows",
      { news: { network: "mainnet" }, answers: { network: [refusal("lost")] } },
      { intervalHours: 2 },
      ["network"],
    ],
    [
      "forgets whether it runs, if nobody knows",
      { news: { active: false }, answers: { stop: [refusal("lost")] } },
      { network: "rinkeby" },
      ["state"],
    ],
    [
      "forgets whether it runs after a start that nobody saw",
      { olds: { state: "inactive", active: false }, answers: { start: [refusal("lost")] } },
      { network: "rinkeby" },
      ["state"],
    ],
  ])("that fails %s", async (_, { olds, ...given }, shows, lacks) => {
    const both = { ...active, deployedNetworks: ["rinkeby", "mainnet"], ...olds };
    const { error, state } = await doing({ ...given, olds: both });
    expect(error).toContain("What was done so far is kept");
    expect(state).toMatchObject(shows);
    for (const key of lacks) expect(state).not.toHaveProperty(key);
  });
});

describe("a contract", () => {
  const first: Props = { ...wanted, ...account, state: "configured", deployedNetworks: [] };
  const since = "2026-01-01T00:00:00.000Z";
  const unknown = (more: Props = {}): Props => ({
    ...first,
    [storedKey]: { version: 2, deployment: { rinkeby: { since, why: "POST: reset", ...more } } },
  });

  test.each<[string, Case, boolean, RegExp | ""]>([
    [
      "is not, if it is shown",
      { answers: looked({ deployed_networks: ["rinkeby"] }) },
      false,
      /the contract is deployed on rinkeby: the service shows it\. It is not sent again/,
    ],
    [
      "is, if the address is that of the network before",
      {
        olds: { network: "mainnet", deployedNetworks: ["mainnet"] },
        answers: {
          balance: ["5"],
          look: [
            { network: "mainnet", contract_address: "0x1" },
            { network: "rinkeby", contract_address: "0x1" },
          ],
        },
      },
      true,
      /^$/,
    ],
    [
      "is not in a run that adopts all, if it can be started",
      { adoptAll: true },
      false,
      /the service can be activated/,
    ],
    [
      "is after a killed run, if it cannot be started",
      { isContinued: true, answers: { start: [refusal("conflict", "no contract"), {}] } },
      true,
      /^$/,
    ],
    [
      "is after a killed run, if other networks are shown",
      { isContinued: true, answers: looked({ deployed_networks: ["mainnet"] }) },
      true,
      /^$/,
    ],
    [
      "is not, if the service says that there is one",
      { answers: { deploy: [refusal("conflict", "already deployed")] } },
      true,
      /^$/,
    ],
  ])("%s", async (_, { olds, ...given }, paid, line) => {
    const { error, steps, said, state } = await doing({ ...given, olds: { ...first, ...olds } });
    expect([error, steps.includes("deploy")]).toEqual(["", paid]);
    expect(said).toMatch(line);
    expect(state?.deployedNetworks).toContain("rinkeby");
  });

  test.each<[string, unknown, RegExp]>([
    [
      "as a conflict with something else",
      refusal("conflict", "a transaction already exists there"),
      /the deployment on rinkeby failed/,
    ],
    ["by its state", { state: "failed" }, /the service answers that it is not deployed\./],
  ])("that is refused %s is an error, and is sent by the next run", async (_, answer, why) => {
    const { error, kept, steps, state } = await doing({ olds: first, answers: { deploy: [answer] } });
    expect(error).toMatch(why);
    expect([kept.deployment, steps.at(-1), state?.deployedNetworks]).toEqual([undefined, "deploy", []]);
    expect(error.match(/the deployment on rinkeby failed/g)).toHaveLength(1);
  });

  test.each<[string, Case, RegExp]>([
    [
      "it can be started",
      { answers: { deploy: [refusal("unavailable")], account: [{ account: "0x1" }], balance: [missing] } },
      /the service can be activated/,
    ],
    [
      "of doubt about the network",
      { answers: { deploy: [{ network: "mainnet" }], look: [missing, { deployed_networks: ["rinkeby"] }] } },
      /the service answers that its network is mainnet\. The contract may be/,
    ],
    [
      "of doubt about the contract",
      { answers: { deploy: [{ deployed_networks: [] }], look: [missing, { deployed_networks: ["rinkeby"] }] } },
      /the service answers without a contract on rinkeby\. The contract may be/,
    ],
    [
      "the account has paid for it",
      { answers: { deploy: [refusal("lost")], account: [account, { account: "0x1", balanceWei: "4" }] } },
      /the account 0x1 has paid 5 wei for it/,
    ],
  ])("that may have been deployed is used, where %s", async (_, given, line) => {
    const { error, said, steps, kept, state } = await doing({ ...given, olds: first });
    expect([error, steps.filter((step) => step === "deploy").length]).toEqual(["", 1]);
    expect(said).toMatch(line);
    expect([kept.deployment, state?.state]).toEqual([undefined, "active"]);
  });

  test.each<[string, Case, RegExp]>([
    ["the account has paid nothing", {}, /no trace of a contract on rinkeby: the account 0x1 has 9 wei/],
    [
      "no balance is shown, and it does not start",
      { answers: { account: [{}], balance: [missing], start: [refusal("conflict", "no contract")] } },
      /the account of the tether service shows no balance/,
    ],
    [
      "no balance is shown, and it is not to run",
      { news: { active: false }, answers: { account: [{}], balance: [missing] } },
      /the account of the tether service shows no balance/,
    ],
    [
      "it targets another network",
      { answers: { look: [missing, { network: "mainnet" }] } },
      /still targeting mainnet: the account 0x1 shows nothing about rinkeby/,
    ],
    [
      "the service is away",
      { answers: { look: [missing, refusal("server", "away")] } },
      /no contract seen yet \(at last POST \/tether\/t: away\)/,
    ],
  ])("that may have been deployed stays unknown, where %s", async (_, given, why) => {
    const answers = { deploy: [refusal("lost", "reset")], ...given.answers };
    const { error, kept, steps } = await doing({ ...given, olds: first, answers, limitMs: 20_000 });
    expect(error).toMatch(why);
    expect(error).toMatch(/if there is no contract, CONSORTIUM_NOT_DEPLOYED=t@\S+ sends it once more/);
    expect(kept.deployment?.rinkeby).toMatchObject({ why: expect.stringContaining("reset") as string });
    expect(steps.filter((step) => step === "deploy")).toHaveLength(1);
    // A service may start one without a contract, so that is no proof where there is a better one.
    expect(steps.includes("start")).toBe(given.answers?.start !== undefined);
  });

  test.each<[string, Case & { variables?: Record<string, string> }, boolean, RegExp | ""]>([
    [
      "is looked for until the limit",
      { limitMs: 10_000 },
      false,
      /It is not known whether the contract was deployed on rinkeby \(POST: reset\)/,
    ],
    ["is used, if the user says so", { variables: { CONSORTIUM_DEPLOYED: `x, t@${since}` } }, false, ""],
    ["is sent again, if the user says so", { variables: { CONSORTIUM_NOT_DEPLOYED: `x, t@${since}` } }, true, ""],
    [
      "is used, if the account has paid, whatever the user says",
      { variables: { CONSORTIUM_NOT_DEPLOYED: `t@${since}` }, olds: unknown({ balanceWei: "10" }) },
      false,
      "",
    ],
  ])("that an earlier run may have deployed %s", async (_, { variables = {}, ...given }, paid, why) => {
    setEnvironment(variables);
    const { error, steps, kept } = await doing({ olds: unknown(), ...given });
    expect(error).toMatch(why);
    expect([steps.includes("deploy"), kept.deployment === undefined]).toEqual([paid, why === ""]);
  });

  test("that may have been deployed on two networks stays unknown on both, until a word settles one", async () => {
    const limitMs = 10_000;
    const lost = { deploy: [refusal("lost")], balance: ["5"] };
    const mainnet = { network: "mainnet" };
    const one = await doing({ olds: first, answers: lost, limitMs });
    const both = await doing({ news: mainnet, olds: one.state!, answers: lost, limitMs });
    expect(Object.keys(both.kept.deployment!)).toEqual(["rinkeby", "mainnet"]);
    setEnvironment({ CONSORTIUM_NOT_DEPLOYED: `t@${String(both.kept.deployment!.mainnet!.since)}` });
    await new Promise((resolve) => setTimeout(resolve, 2)); // words differ by their time
    const again = await doing({ news: mainnet, olds: both.state!, answers: lost, limitMs });
    const third = await doing({ news: mainnet, olds: again.state!, answers: lost, limitMs });
    expect([again, third].map(({ steps }) => steps.includes("deploy"))).toEqual([true, false]); // a word counts once
    setEnvironment({ CONSORTIUM_NOT_DEPLOYED: `t@${String(again.kept.deployment!.mainnet!.since)}` });
    const settled = await doing({ news: mainnet, olds: third.state! });
    expect([settled.error, Object.keys(settled.kept.deployment!)]).toEqual(["", ["rinkeby"]]);
    setEnvironment({ CONSORTIUM_NOT_DEPLOYED: "" });
    const back = await doing({ olds: settled.state!, answers: { balance: ["5"] }, limitMs });
    expect([back.steps.includes("deploy"), Object.keys(back.kept.deployment!)]).toEqual([false, ["rinkeby"]]);
  });

  const shown = (answer: Props): Case => ({ answers: looked(answer) });
  const refused = refusal("conflict", "no");
  test.each<[string, Case, RegExp]>([
    [
      "its reports cannot be counted",
      { answers: { reports: [refusal("lost")] } },
      /number of its reports cannot be read/,
    ],
    ["it is deployed on a network that is not shown", shown({ state: "deployed" }), /not clearly on which network/],
    ["what is shown cannot be read", { answers: { look: ["ok"] } }, /in a form that cannot be read/],
    [
      "it is on another network, and contracts are not listed",
      { olds: { deployedNetworks: ["mainnet"] }, ...shown({ network: "rinkeby", state: "deployed" }) },
      /not clearly on which network/,
    ],
  ])(
    "is not paid for where %s, unless somebody says that there is none",
    async (_, { olds, answers, ...given }, why) => {
      for (const news of [{}, { active: false }]) {
        const once: Case = { ...given, news, olds: { ...first, ...olds }, answers: { ...answers, start: [refused] } };
        const { error, kept, steps, state } = await doing(once);
        expect(error).toMatch(why);
        expect(error).toContain("check the account 0x1 on rinkeby");
        expect(steps).not.toContain("deploy");
        expect(steps.includes("start")).toBe(!("active" in news));
        const { since: word } = kept.deployment!.rinkeby!;
        expect(error).toContain(`CONSORTIUM_NOT_DEPLOYED=t@${String(word)} sends it;`);
        // Once more, and it is the same question.
        expect((await doing({ ...once, olds: state! })).kept.deployment!.rinkeby!.since).toBe(word);
        // A clear answer is enough, because nothing was sent.
        const clear = await doing({ news, olds: state! });
        expect([clear.error, clear.steps.includes("deploy")]).toEqual(["", true]);
        setEnvironment({ CONSORTIUM_DEPLOYED: `t@${String(word)}`, CONSORTIUM_NOT_DEPLOYED: "" });
        const used = await doing({ ...once, answers, olds: state! });
        expect([used.error, used.steps.includes("deploy")]).toEqual(["", false]);
        setEnvironment({ CONSORTIUM_DEPLOYED: "", CONSORTIUM_NOT_DEPLOYED: `t@${String(word)}` });
        const sent = await doing({
          ...once,
          olds: state!,
          answers: { ...answers, deploy: [refusal("invalid", "no funds")] },
        });
        expect(sent.error).toContain("no funds");
        const again = await doing({ ...once, olds: sent.state!, answers });
        expect([again.error, again.steps.includes("deploy"), again.kept.deployment]).toEqual(["", true, undefined]);
        setEnvironment({ CONSORTIUM_NOT_DEPLOYED: "" });
      }
    },
  );

  test("is not paid for on another network than the service shows", async () => {
    const { error, steps } = await doing({ olds: first, ...shown({ network: "mainnet" }) });
    expect(error).toContain("the service shows that its network is mainnet, not rinkeby. Nothing was paid.");
    expect(steps).not.toContain("deploy");
  });
});

describe("a stop for good", () => {
  test.each<[string, Case, Step[], RegExp | "", RegExp | ""]>([
    [
      "needs none for one that was never started",
      { olds: { ...active, state: "configured" }, answers: { stop: [busy] } },
      ["stop", "look"],
      "",
      /was not active/,
    ],
    [
      "is not sure at a wrong address",
      { olds: active, answers: { stop: [missing], consortia: [missing] } },
      ["stop", "consortia"],
      /POST \/tether\/t/,
      /^$/,
    ],
    [
      "says how to go on, if nobody knows",
      { olds: active, answers: { stop: [busy] } },
      ["stop", "look"],
      /run `pulumi state delete` with its URN/,
      /^$/,
    ],
    [
      "names a contract that nobody knows",
      {
        olds: {
          ...active,
          state: "inactive",
          [storedKey]: { version: 2, deployment: { mainnet: { since: "1", why: "x" } } },
        },
      },
      ["stop"],
      "",
      /it is not known whether its contract was deployed on mainnet, .*check the account 0x1 there/,
    ],
  ])("%s", async (_, given, steps, why, line) => {
    const { error, steps: taken, said } = await doing(given, "stop");
    expect(error).toMatch(why);
    expect(taken).toEqual(steps);
    expect(said).toMatch(line);
  });
});
