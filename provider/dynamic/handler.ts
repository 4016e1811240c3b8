import { providerKey } from "../constants";
import { Operations } from "../adapter/operations";
import { type Definition, type Issue, type Props } from "../core/definition";
import { Incomplete } from "../core/user-error";
import { notReady, refusal } from "./pulumi-internals";
import { type HostConfig, hostProcess } from "./session";

/** The verbs of one resource, as the dynamic provider host calls them. */
export interface Handler {
  configure(request: { config: HostConfig }): void;
  check(olds: Props, news: Props): Promise<{ inputs: Props; failures: Issue[] }>;
  diff(
    id: string,
    olds: Props,
    news: Props,
  ): Promise<{ changes: boolean; replaces: string[]; deleteBeforeReplace: boolean }>;
  create(inputs: Props): Promise<{ id: string; outs: Props }>;
  read(id: string, state: Props): Promise<{ id: string; props?: Props; inputs?: Props }>;
  update(id: string, olds: Props, news: Props): Promise<{ outs: Props }>;
  delete(id: string, state: Props): Promise<void>;
}

/** Shown in the preview, the one place to say it in time. */
// eslint-disable-next-line no-console -- the host shows what the provider process prints
const show = (lines: string[]): void => lines.forEach((line) => console.log(line));

export function handler(definition: Definition, host = hostProcess): Handler {
  const { sessions } = host;
  const operations = new Operations(definition, sessions);

  /** Nothing is lost on the way out: an incomplete object keeps its id and state, every other error its message. */
  async function guarded<T>(props: Props, run: () => T | Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      const shown = sessions.shown(error, operations.called(props));
      throw await (shown instanceof Incomplete ? notReady(shown, props[providerKey]) : refusal(shown));
    }
  }

  return {
    configure: ({ config }) => host.configure(config),

    check: (olds, news) =>
      guarded(news, () => {
        const { lines, ...checked } = operations.check(olds, news);
        show(lines);
        return checked;
      }),

    diff: (id, olds, news) =>
      guarded(news, () => {
        const { changes, replaces, deleteBeforeReplace, warnings } = operations.diff(id, olds, news);
        show(warnings.map((warning) => `WARNING: ${warning}`));
        // A state of the plugin names no code, without which this host could not read or delete the object later.
        return { changes: changes || olds[providerKey] === undefined, replaces, deleteBeforeReplace };
      }),

    create: (inputs) =>
      guarded(inputs, async () => {
        const { id, state } = await operations.create(sessions.current(), inputs);
        return { id, outs: state };
      }),

    read: (id, state) =>
      guarded(state, async () => {
        const found = await operations.read(sessions.current(), id, state);
        return found ? { id, ...found } : { id: "" };
      }),

    update: (id, olds, news) =>
      guarded(news, async () => ({
        outs: await operations.update(sessions.current(), id, olds, news),
      })),

    delete: (id, state) => guarded(state, () => operations.delete(sessions.current(), id, state)),
  };
}
