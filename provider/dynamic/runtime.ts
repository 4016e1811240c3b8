import { definitions } from "../resources";
import { handler } from "./host";

/*
 * The module that the provider process loads (`pulumi-consortium/runtime`). States refer to these names, so they stay forever.
 */
export const consortium = handler(definitions.consortium);
export const membership = handler(definitions.membership);
export const environment = handler(definitions.environment);
export const node = handler(definitions.node);
export const appCred = handler(definitions.appCred);
export const consortiumZone = handler(definitions.consortiumZone);
export const invitation = handler(definitions.invitation);
export const environmentZone = handler(definitions.environmentZone);
export const configuration = handler(definitions.configuration);
export const service = handler(definitions.service);
export const destination = handler(definitions.destination);
export const tetherService = handler(definitions.tetherService);
