import { UndiciTransport } from "../../../provider/api/transport";
import { Listed } from "../../../provider/core/collection";
import * as runtime from "../../../provider/dynamic/runtime";
import { type Kind, type Props, unknown } from "../../support/engine";

/* check and diff run in every preview, also without a network or a key: they ask nobody. */

const props: Props = {
  consortiumId: "c",
  environmentId: "e",
  membershipId: "m",
  name: "a",
  orgName: "a",
  provider: "quorum",
  consensusType: "raft",
  tetherId: "tether0001",
  network: "rinkeby",
  intervalHours: 1,
};

test.each(Object.keys(runtime) as Kind[])("%s", async (kind) => {
  const io = [
    jest.spyOn(UndiciTransport.prototype, "send").mockRejectedValue(new Error("a call was made")),
    jest.spyOn(Listed.prototype, "list").mockRejectedValue(new Error("a list was asked for")),
  ];
  jest.spyOn(console, "log").mockImplementation(() => undefined);
  for (const name of Object.keys(process.env)) if (name.startsWith("CONSORTIUM_")) delete process.env[name];

  for (const news of [props, { ...props, name: unknown, consortiumId: unknown }, { name: 7 }, {}]) {
    const { inputs, failures } = await runtime[kind].check(props, { ...news });
    expect(typeof inputs).toBe("object");
    expect(Array.isArray(failures)).toBe(true);
    for (const olds of [props, { ...props, state: "failed" }, {}]) {
      expect(typeof (await runtime[kind].diff("id", olds, { ...inputs })).changes).toBe("boolean");
    }
  }
  for (const one of io) expect(one).not.toHaveBeenCalled();
});

afterEach(() => jest.restoreAllMocks());
