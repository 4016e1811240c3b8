import { type Facts } from "./facts";
import { networkChecks } from "./network-checks";
import { type Result } from "./results";
import { tetherChecks } from "./tether-checks";

export { type FactOptions, type Facts, gatherFacts } from "./facts";
export { exitCode, type Outcome, type Result } from "./results";

/** Whether the network is usable: what each check finds. */
export const check = (facts: Facts): Result[] => [...networkChecks, ...tetherChecks].flatMap(({ look }) => look(facts));
