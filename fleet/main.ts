#!/usr/bin/env node
import { createRequire } from "node:module";
import { Command } from "commander";
import { fail, pointToHelp } from "pulumi-consortium/internal/fleet";
import { define } from "./command";

const { version } = createRequire(__filename)("consortium-fleet/package.json") as { version: string };
const command = new Command("consortium-fleet").description("Manages many organizations and networks from one file");
define(command.version(version));
pointToHelp(command, "consortium-fleet");
command.parseAsync().catch((error: unknown) => fail(error, { json: process.argv.includes("--json") }));
