import { TestEnvironment } from "jest-environment-node";

/** Of programs that run in the process of a test (tests/e2e/support/inline.ts). */
export default class extends TestEnvironment {
  /** @param {import("jest-circus").Circus.AsyncEvent | import("jest-circus").Circus.SyncEvent} event */
  handleTestEvent(event) {
    // The engine answers no more calls once a run has failed: then the program's process would have ended, and nobody would hear of them.
    if (event.name === "error" && isRefusedCall(event.error)) event.promise?.catch(() => undefined);
  }
}

/** @param {unknown} error of gRPC */
const isRefusedCall = (error) =>
  typeof error === "object" &&
  error !== null &&
  "metadata" in error &&
  "code" in error &&
  typeof error.code === "number";
