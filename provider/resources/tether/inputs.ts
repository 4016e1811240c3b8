import { type Props } from "../../core/definition";
import { type TetherNetwork } from "../../constants";

/** The inputs of a tether service once they are checked: see tether-service.ts. */
export interface TetherInputs extends Props {
  tetherId: string;
  network: TetherNetwork;
  intervalHours: number;
  active?: boolean;
  minimumBalanceWei?: string;
  waitForFunds?: string;
  extra?: Props;
}
