/** Loaded before the plugin: writes the CPU time of each process from the line with its port to the interrupt that ends it. */
const { appendFileSync } = require("node:fs");

const write = process.stdout.write.bind(process.stdout);
/** @type {NodeJS.CpuUsage | undefined} */
let before;
process.stdout.write = /** @type {typeof write} */ (
  (/** @type {string} */ text) => {
    before ??= process.cpuUsage();
    return write(text);
  }
);
process.once("SIGINT", () => {
  const { user, system } = process.cpuUsage(before);
  appendFileSync(String(process.env.BENCH_METER), `${(user + system) / 1000}\n`);
  process.kill(process.pid, "SIGINT"); // ends it
});
