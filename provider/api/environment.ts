import { AsyncLocalStorage } from "node:async_hooks";

/* The one place where the process environment is read. Imports nothing of this package, for the programs. */

/** `maxConcurrency` becomes `CONSORTIUM_MAX_CONCURRENCY`. */
export const environmentName = (name: string): string =>
  `CONSORTIUM_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;

/** Where users find an API key that a fleet has put into the environment. */
export const keySourceVariable = environmentName("apiKeySource");

export type Environment = Record<string, string | undefined>;

const own = new AsyncLocalStorage<Environment>();

/** That of the process, or in a process which serves several stacks that of the stack which a call is for. */
export const processEnvironment = (): Environment => own.getStore() ?? process.env;

/** Everything that `work` does has this environment, whenever it does it. */
export const withEnvironment = <T>(environment: Environment, work: () => T): T => own.run(environment, work);
