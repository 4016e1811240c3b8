import { useState } from "preact/hooks";
import type { Actions } from "../protocol";

/** Asks the server to do something. @throws Error with a sentence for people */
export async function act<N extends keyof Actions>(action: N, ask: Actions[N]["ask"]): Promise<Actions[N]["answer"]> {
  const response = await fetch(`api/${action}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(ask),
  }).catch(() => {
    throw new Error("The console does not answer: is it still running?");
  });
  const answer = (await response.json()) as Actions[N]["answer"] & { error?: string };
  if (!response.ok) throw new Error(answer.error ?? `The console answered ${response.status}.`);
  return answer;
}

/** An action with what became of it: `run` never throws, and answers undefined where it failed. */
export function useAction<N extends keyof Actions>(action: N) {
  type Answer = Actions[N]["answer"];
  const [state, set] = useState<{ busy?: boolean; answer?: Answer; trouble?: string }>({});
  const run = async (ask: Actions[N]["ask"]): Promise<Answer | undefined> => {
    set({ busy: true });
    try {
      const answer = await act(action, ask);
      // A new secret is shown once, and kept nowhere.
      set(typeof answer === "object" && "secret" in answer ? {} : { answer });
      return answer;
    } catch (error) {
      set({ trouble: (error as Error).message });
      return undefined;
    }
  };
  return { ...state, run };
}
