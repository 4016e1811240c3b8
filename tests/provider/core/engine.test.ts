import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { begin, sendSpans } from "../../../provider/api/trace";
import { engineAddress, onEngineGone, onLeaving } from "../../../provider/pulumi/engine";
import { receiver } from "../../support/receiver";

/* A provider process ends with the engine that has started it. */

test.each<[string[], string | undefined]>([
  [["node", "provider", "127.0.0.1:4000"], "127.0.0.1:4000"],
  [["localhost:4000", "127.0.0.1:5000"], "localhost:4000"],
  [["[::1]:4000"], "[::1]:4000"],
  [["node", "--port=127.0.0.1:4000", "127.0.0.1", "host:4000"], undefined],
])("the engine's address, of the arguments %j, is %s", (args, address) => {
  expect(engineAddress(args)).toBe(address);
});

test.each([undefined, "", "host:4000"])("without an address (%j), nobody is watched", (address) => {
  expect(() => onEngineGone(address, () => undefined)).not.toThrow();
});

test("the engine may close its connection; it is gone when nobody listens", async () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => void sockets.push(socket)).listen(0, "127.0.0.1");
  await once(server, "listening");
  let isGone = false;
  const gone = new Promise<void>((resolve) => {
    onEngineGone(`127.0.0.1:${(server.address() as AddressInfo).port}`, () => {
      isGone = true;
      resolve();
    });
  });
  await once(server, "connection");
  sockets[0]!.destroy();
  await once(server, "connection");
  expect(isGone).toBe(false);
  server.close();
  sockets[1]!.destroy();
  await gone;
});

test.each([false, true])(
  "an interrupt calls back, sends spans where there are some (%s), and ends the process",
  async (traced) => {
    const { requests } = traced ? await receiver() : { requests: [] };
    const said: string[] = [];
    if (traced)
      await begin({ name: "x", attributes: {} }, { mask: String, warn: (one) => void said.push(one) }, () =>
        Promise.resolve(),
      );
    const ended = new Promise((resolve) => {
      jest.spyOn(process, "kill").mockImplementation((...given) => {
        resolve([given, requests.length]);
        return true;
      });
    });
    onLeaving(() => void said.push("left"));
    process.emit("SIGINT");
    expect(await ended).toEqual([[process.pid, "SIGINT"], traced ? 1 : 0]);
    expect(said).toEqual(["left"]);
    await sendSpans();
  },
);
