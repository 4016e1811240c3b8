import { createRequire } from "node:module";
import { version } from "../provider/version";

try {
  createRequire(__filename).resolve("consortium-service");
} catch (error) {
  const install = `npm install --save-dev consortium-service@${version}`;
  throw new Error(`The embedded service is in a package of its own, which is not installed: ${install}`, {
    cause: error,
  });
}

export * from "consortium-service";
