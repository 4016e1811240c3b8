import { isApiError } from "../../api";
import { type Props } from "../../core/definition";
import { type Session } from "../../core/session";

/** Stops the tether service, which is all that can be undone; one that is gone or stopped already is fine. */
export async function stop(session: Session, id: string, state: Props): Promise<void> {
  if (state.state === "inactive" || state.state === "configured") return;
  try {
    await session.client.deactivateTether(id);
  } catch (error) {
    if (isApiError(error, "missing")) {
      await session.lists.get("/consortia", 10_000); // a wrong address fails here
      return;
    }
    if (!isApiError(error, "conflict", "invalid")) throw error;
    session.say(`tether service "${id}": was not active (${error.errorMessage})`);
  }
}
