import { type ConsortiumClient } from "../../provider/api";
import { type TetherModel } from "../../inventory/model";
import { Pins } from "../../inventory/tethers";
import { type Verification } from "../../sdk/runtime/verify";
import { messageOf } from "./probe-chain";

/** What the public chain says of a tether's last pins. */
export interface TetherProbe {
  /** Absent: there is no report, or no chain to ask. */
  verdict?: Verification;
  /** What the last pins cost on average. */
  weiPerPin?: bigint;
  /** Why the chain could not be asked. */
  unseen?: string;
}

/** So many of the last pins tell what one costs. */
const samples = 3;

export async function probeTether(
  client: ConsortiumClient,
  { id, reports = 0, account }: TetherModel,
  targetUrl: string | undefined,
): Promise<TetherProbe> {
  if (reports === 0 || targetUrl === undefined) return {};
  const pins = new Pins(client, id);
  try {
    const newest = await pins.newest(reports, samples);
    const verdict = await pins.verify(reports - 1, targetUrl, account);
    return { verdict, weiPerPin: await pins.cost(newest, targetUrl) };
  } catch (error) {
    return { unseen: messageOf(error) };
  }
}
