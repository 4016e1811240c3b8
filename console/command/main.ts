#!/usr/bin/env node
import { createRequire } from "node:module";
import { Command } from "@commander-js/extra-typings";
import { fail } from "pulumi-consortium/internal/console";
import { define } from "./console";

const { version } = createRequire(__filename)("consortium-console/package.json") as { version: string };
const command = new Command("consortium-console").description("Shows a network live in the browser");
define(command.version(version).showHelpAfterError("(see consortium-console --help)"));
command.parseAsync().catch((error: unknown) => fail(error));
