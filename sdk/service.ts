import { createRequire } from "node:module";
import { UserError } from "../provider/errors";
import { installing } from "../provider/version";

const name = "consortium-service";
try {
  createRequire(__filename).resolve(name);
} catch (cause) {
  const install = installing(name);
  throw new UserError(
    "not-installed",
    `The embedded service is in a package of its own, which is not installed: ${install}`,
    {
      cause,
    },
  );
}

export type * from "consortium-service";
// By their names: an ES module that imports them gets the error above, and not one about its import.
export { ServiceError, startService } from "consortium-service";
