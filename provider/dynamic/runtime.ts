import { definitions } from "../resources";
import { handler } from "./host";

/*
 * What the provider process loads (`pulumi-consortium/runtime`). States refer to these names, so they stay forever.
 */
export const consortium = handler(definitions.consortium);
export const membership = handler(definitions.membership);
export const environment = handler(definitions.environment);
export const node = handler(definitions.node);
export const appCred = handler(definitions.appCred);
export const tetherService = handler(definitions.tetherService);
