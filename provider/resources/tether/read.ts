import { z } from "zod";
import { isApiError, path } from "../../api";
import { type Props } from "../../core/definition";
import { type Session } from "../../core/session";
import { stateVersion } from "../../core/state";

/** What a service may show of a tether's settings; the spec lists no such call, so nothing relies on it. */
const Shown = z.looseObject({
  network: z.enum(["mainnet", "rinkeby"]).optional().catch(undefined),
  interval: z.coerce.number().int().min(1).optional().catch(undefined),
  state: z.string().optional().catch(undefined),
});

/** The state as it is now; undefined: the service knows no such tether (any more). */
export async function read(session: Session, id: string, state: Props): Promise<Props | undefined> {
  const shown = await settings(session, id);
  if (!shown && !(await exists(session, id))) return undefined;
  const now: Props = { ...state, __version: stateVersion };
  if (shown?.network) now.network = shown.network;
  if (shown?.interval) now.intervalHours = shown.interval;
  const running = shown?.state === "active";
  if (shown?.state && running !== (state.state === "active")) {
    now.state = running ? "active" : "inactive";
    now.active = running;
  }
  return now;
}

async function settings(session: Session, id: string): Promise<z.infer<typeof Shown> | undefined> {
  try {
    const { body } = await session.client.http.request("GET", path`/tether/${id}`);
    const read = Shown.safeParse(body);
    return read.success ? read.data : undefined;
  } catch (error) {
    if (isApiError(error, "missing", "unsupported", "invalid")) return undefined;
    throw error;
  }
}

async function exists(session: Session, id: string): Promise<boolean> {
  try {
    await session.client.getTetherAccount(id);
    return true;
  } catch (error) {
    if (!isApiError(error, "missing")) throw error;
    await session.lists.get("/consortia", 10_000); // a wrong address fails here, and drops nothing
    return false;
  }
}
