import { AsyncLocalStorage } from "node:async_hooks";

/* The one place that reads the process environment. Imports nothing of this package, to keep programs fast. */

/** `maxConcurrency` becomes `CONSORTIUM_MAX_CONCURRENCY`. */
export const environmentName = (name: string): string =>
  `CONSORTIUM_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;

/** Says where users find the API key, if something else has put it into the environment. */
export const keySourceVariable = environmentName("apiKeySource");

export type Environment = Record<string, string | undefined>;

const own = new AsyncLocalStorage<Environment>();

/** The environment of the process, or the one in which `withEnvironment` works. */
export const processEnvironment = (): Environment => own.getStore() ?? process.env;

/** Everything that `work` does has this environment, at any time. */
export const withEnvironment = <T>(environment: Environment, work: () => T): T => own.run(environment, work);
