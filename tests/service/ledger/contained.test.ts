import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build, containing, newFolder, quick, start } from "../helpers";
import { until } from "../../support/until";
import { eth, result, rpc, webSocket } from "../ledgers";

afterEach(() => jest.restoreAllMocks());

test("a file of one ledger with a flipped bit, cut off or gone: the others start and serve, and the service names the damaged one", async () => {
  const dataDir = newFolder();
  const options = { dataDir, ledger: true, timing: quick };
  const before = await start(options);
  const raft = { provider: "quorum", consensus_type: "raft" };
  const [damaged, other] = [await build(before.send, raft), await build(before.send, raft)];
  const placeOf = (service: { url: string }, { environment, node }: typeof damaged) =>
    `${service.url}/runtime/${environment}/${node}`;
  for (const one of [damaged, other]) await result(placeOf(before.service, one), one.credential, "eth_chainId");
  await before.service.close();
  const folder = join(dataDir, "chains", damaged.environment);
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  for (const name of names.filter((one) => /(json|whole|CURRENT|log|ldb|MANIFEST-\d+)$/.test(one))) {
    const file = join(folder, name);
    const whole = readFileSync(file);
    const flipped = Buffer.from(whole);
    flipped[Math.floor(whole.length / 2)]! ^= 1 << (whole.length % 7);
    // without its note, a database is as after a kill
    for (const left of [flipped, whole.subarray(0, -1), ...(name.endsWith("whole") ? [] : [undefined])]) {
      if (left) writeFileSync(file, left);
      else rmSync(file);
      const warned = jest.spyOn(process, "emitWarning").mockImplementation();
      const { service, send } = await start(options);
      const named = !left && name.endsWith("CURRENT") ? folder : file;
      const said = containing(`The ledger ${damaged.environment} is out of order: ${named} is damaged`);
      await until(() => warned.mock.calls.length > 0); // it starts all ledgers by itself
      expect(warned.mock.calls).toEqual([[said, "ConsortiumWarning"]]);
      warned.mockRestore();
      const refusal = { status: 503, body: { errorMessage: said } };
      const place = placeOf(service, damaged);
      expect(await rpc(place, damaged.credential, eth("eth_chainId"))).toMatchObject(refusal);
      expect(await send("GET", `${damaged.paths.node}/status`)).toMatchObject(refusal);
      const opening = await webSocket(place.replace("http", "ws"), damaged.credential);
      expect(opening).toMatchObject({ status: 503, error: said });
      expect(await result(placeOf(service, other), other.credential, "eth_chainId")).toMatch(/^0x/);
      expect((await send("GET", damaged.paths.node)).status).toBe(200);
      await service.close();
      expect(existsSync(file) ? readFileSync(file) : undefined).toEqual(left);
      writeFileSync(file, whole);
    }
  }
  const { service } = await start(options);
  expect(await result(placeOf(service, damaged), damaged.credential, "eth_chainId")).toMatch(/^0x/);
  await service.close();
  rmSync(folder, { recursive: true });
  const without = await start(options);
  expect((await without.send("GET", `${damaged.paths.node}/status`)).status).toBe(503);
  expect((await without.send("DELETE", damaged.paths.environment)).status).toBe(202);
});
