import { type Kind } from "../constants";
import { type Definition } from "../core/definition";
import { appCred } from "./app-cred";
import { configuration } from "./configuration";
import { consortium, invitation, membership } from "./consortium";
import { environment } from "./environment";
import { node } from "./node";
import { destination, service } from "./service";
import { tetherService } from "./tether-service";
import { consortiumZone, environmentZone } from "./zones";

/** All resources, parents before children. */
export const definitions = {
  consortium,
  membership,
  consortiumZone,
  invitation,
  environment,
  environmentZone,
  configuration,
  node,
  appCred,
  service,
  destination,
  tetherService,
} satisfies Record<Kind, Definition>;
