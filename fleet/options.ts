import { Argument, type Command as Program, Option } from "commander";
import { repeatable, writable } from "pulumi-consortium/internal/fleet";
import { matrices } from "./shards";

/* Arguments and options of several commands. */

export const fleetFile = () => new Argument("<file>", "the fleet file, such as fleet.yaml");

export const only = () => repeatable("--only <pattern>", "only matching stacks, such as acme-prod or 'acme-*'", "all");

export const changedSince = () =>
  new Option("--changed-since <commit>", "only stacks that changed since a commit, and stacks that depend on them");

export const reporting = (command: Program) =>
  command
    .option("--json", "print one JSON document")
    .option("--junit <file>", "also write the results as JUnit XML", (file) => writable(file, true));

export const matrixOption = () =>
  new Option("--matrix <forge>", "write the matrices for this forge").choices(Object.keys(matrices));
