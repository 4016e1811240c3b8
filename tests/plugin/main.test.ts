import { connect, createServer, type AddressInfo } from "node:net";
import { once } from "node:events";
import { version } from "../../package.json";
import { Protocol } from "../support/protocol";
import { until } from "../support/until";

/* The plugin's process, in this one. (As a process of its own: tests/tools/plugin.test.ts.) */

const { argv } = process;
let printed: string;
beforeEach(() => {
  printed = "";
  jest.spyOn(process.stdout, "write").mockImplementation((text) => ((printed += String(text)), true));
});
afterEach(() => {
  process.argv = argv;
  jest.restoreAllMocks();
});

/** Starts it with these arguments. */
function start(...args: string[]): void {
  process.argv = [...argv.slice(0, 2), ...args];
  jest.isolateModules(() => void require("../../plugin/main"));
}
