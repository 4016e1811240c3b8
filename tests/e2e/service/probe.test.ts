import { setTimeout as wait } from "node:timers/promises";
import { type Service } from "../../../service/index";
import { connection } from "../../cli/command";
import { allOf, answersIn, file, leftIn, realService, timeless } from "../../cli/probed";
import { begun, built, consortium, serveJson } from "../../service/child";
import { until } from "../../support/until";
import { patiently } from "../../support/jest/patience";

/* `consortium probe` as a process. What it finds out and saves: tests/cli/probe.test.ts. */

beforeAll(built);

const probe = (service: Pick<Service, "baseUrl" | "apiKey">, ...args: string[]) =>
  consortium(["probe", "--wait", "6", ...args], connection(service));

test("with its saved file, `serve --like` answers the same", async () => {
  const service = await realService({ answers: { like: "hosted" }, timing: { deleting: 300 } });
  const first = await probe(service, "--yes", "--save", file("answers.json"));
  expect([first.code, first.stderr]).toEqual([0, expect.not.stringContaining("consortium:")]);
  const other = await serveJson(["--no-console", "--no-ledger", "--like", file("answers.json")]);
  const { baseUrl } = other.ready;
  const second = await probe({ baseUrl, apiKey: other.key }, "--yes");
  other.child.kill();
  expect(timeless(answersIn(second))).toEqual(timeless(answersIn(first)));
});

test("a second signal does not wait for an unanswered call", async () => {
  const service = await realService({ timing: { nodeStart: 600_000 } });
  service.faults.add({ kind: "hang", method: "DELETE", times: Infinity });
  const { child, ended } = begun(["probe", "--wait", "6", "--yes"], connection(service));
  await until(() => service.calls.some(({ method, path }) => method === "POST" && path.endsWith("/nodes")));
  child.kill("SIGINT");
  await until(() => service.calls.some(({ method }) => method === "DELETE"));
  child.kill("SIGINT");
  const over = Promise.race([ended, wait(patiently(20_000), "still running", { ref: false })]);
  expect(await over).toMatchObject({ code: 130 });
  const made = allOf(service).reverse();
  expect(leftIn((await ended).stderr)).toEqual(made.map((one) => `${one}: not waited for`));
});
