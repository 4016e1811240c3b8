import { type Definition } from "../core/definition";
import { appCred } from "./app-cred";
import { consortium } from "./consortium";
import { environment } from "./environment";
import { membership } from "./membership";
import { node } from "./node";
import { tetherService } from "./tether-service";

/** All resources, parents before children. */
export const definitions = { consortium, membership, environment, node, appCred, tetherService } satisfies Record<
  string,
  Definition
>;
