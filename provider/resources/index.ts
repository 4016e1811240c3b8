import { type Definition } from "../core/definition";
import { appCred } from "./app-cred";
import { configuration } from "./configuration";
import { consortium } from "./consortium";
import { destination } from "./destination";
import { environment } from "./environment";
import { invitation } from "./invitation";
import { membership } from "./membership";
import { node } from "./node";
import { service } from "./service";
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
} satisfies Record<string, Definition>;
