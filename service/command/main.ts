#!/usr/bin/env node
import { createRequire } from "node:module";
import { Command } from "@commander-js/extra-typings";
import { codedMessage } from "../errors";
import { define } from "./serve";

const { version } = createRequire(__filename)("consortium-service/package.json") as { version: string };
const command = new Command("consortium-service").description("Runs a Consortium service on this machine");
define(command.version(version).showHelpAfterError("(see consortium-service --help)"));
command.parseAsync().catch((error: unknown) => {
  console.error(`consortium-service: ${codedMessage(error)}`);
  process.exitCode = 1;
});
