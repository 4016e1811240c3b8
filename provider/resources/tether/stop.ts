import { isApiError } from "../../api";
import { type Props } from "../../core/definition";
import { type Session } from "../../core/session";
import { unknownsIn } from "./outcome";
import { requireService } from "./read";

/** Stops the tether service, which is all that can be undone; one that is gone or stopped already is fine. */
export async function stop(session: Session, id: string, state: Props): Promise<void> {
  for (const network of Object.keys(unknownsIn(state))) {
    session.say(
      `tether service "${id}": it is not known whether its contract was deployed on ${network}, and nothing remembers that ` +
        `any more: look at the account ${String(state.account)} there before you deploy it again.`,
    );
  }
  if (state.state === "inactive" || state.state === "configured") return;
  try {
    await session.client.deactivateTether(id);
  } catch (error) {
    if (isApiError(error, "missing")) {
      await requireService(session);
      return;
    }
    if (!isApiError(error, "conflict", "invalid")) throw error;
    session.say(`tether service "${id}": was not active (${error.errorMessage})`);
  }
}
