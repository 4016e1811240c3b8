import { type CustomResourceOptions, type Input, output, RunError } from "@pulumi/pulumi";
import { tetherIdOf } from "../provider/constants";
import { type TetherServiceFields, type TetherServiceProperties } from "./generated";
import { isOf, Managed } from "./managed";
import { type Outputs } from "./properties";

/** The tether service, by its id or by its address in the console. */
export type WhichTether =
  { tetherId: Input<string>; consoleUrl?: undefined } | { consoleUrl: Input<string>; tetherId?: undefined };

export type TetherServiceArgs = Omit<TetherServiceFields, "tetherId"> & WhichTether;

export interface TetherService extends Outputs<TetherServiceProperties> {}

/** Pins the state of an environment's ledger to a public chain. */
export class TetherService extends Managed {
  /** Whether it is one, on either provider. Policies ask this, of a value that has only its type. */
  static override isInstance(value: unknown): value is TetherService {
    return isOf("TetherService", value);
  }

  constructor(name: string, args: TetherServiceArgs, opts?: CustomResourceOptions) {
    const { consoleUrl, ...rest } = args;
    if (consoleUrl !== undefined && rest.tetherId !== undefined)
      throw new RunError(`TetherService ${name}: tetherId and consoleUrl are both given. Give one of them.`);
    const fromUrl = consoleUrl && output(consoleUrl).apply(tetherIdOf);
    super("TetherService", name, { ...rest, tetherId: rest.tetherId ?? fromUrl }, opts);
  }
}
