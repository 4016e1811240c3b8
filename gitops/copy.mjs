#!/usr/bin/env node
// copy.mjs save STACK: writes the state of STACK without its secrets into copies/, for previews by jobs that may not see secrets.
// copy.mjs open STACK FOLDER: makes a backend of that copy in FOLDER/state, and FOLDER/config.yaml: the stack's configuration without
// its secrets. Each secret is the text [secret] there. It needs PULUMI_BACKEND_URL=file://FOLDER/state, and any passphrase.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parse, stringify } from "yaml";

const [command, stack = "", folder = ""] = process.argv.slice(2);
const copy = join("copies", `${stack.replaceAll("/", ".")}.json`);
const short = basename(stack);
const standIn = "[secret]";
const pulumi = (...args) =>
  execFileSync("pulumi", [...args, "--non-interactive"], {
    encoding: "utf8",
    maxBuffer: 2 ** 30,
    stdio: ["ignore", "pipe", "inherit"],
  });

/** Replaces some objects of plain data. @param change undefined for an object that stays */
function replaced(value, change) {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => replaced(one, change));
  const entries = () => Object.entries(value).map(([key, one]) => [key, replaced(one, change)]);
  return change(value) ?? Object.fromEntries(entries());
}

/** How Pulumi marks a secret in a state: https://www.pulumi.com/docs/iac/concepts/state-and-backends */
const mark = { key: "4dabf18193072939515e22adb298388d", value: "1b47061264138c4ac30d75fd1eb44270" };

function save() {
  const { version, deployment } = JSON.parse(pulumi("stack", "export", "--stack", stack));
  const open = { ...deployment, secrets_providers: undefined }; // no deployment: nothing was deployed yet
  const plain = replaced(open, (one) =>
    one[mark.key] === mark.value ? { [mark.key]: mark.value, plaintext: JSON.stringify(standIn) } : undefined,
  );
  if (JSON.stringify(plain).includes('"ciphertext"'))
    throw new Error(`the state of ${stack} has secrets of an unknown form.`);
  mkdirSync("copies", { recursive: true });
  writeFileSync(copy, JSON.stringify({ version, deployment: plain }));
}

function open() {
  const ending = existsSync("Pulumi.yaml") ? "yaml" : "yml";
  const { name, stackConfigDir = "." } = parse(readFileSync(`Pulumi.${ending}`, "utf8"));
  const scratch = join(folder, "scratch");
  for (const one of [scratch, join(folder, "state")]) mkdirSync(one, { recursive: true });
  writeFileSync(join(scratch, "Pulumi.yaml"), stringify({ name, runtime: "yaml" }));
  pulumi("--cwd", scratch, "stack", "init", short, "--secrets-provider", "passphrase");
  pulumi("--cwd", scratch, "config", "set", "--secret", "--stack", short, "stand-in", standIn);
  const made = parse(readFileSync(join(scratch, `Pulumi.${short}.yaml`), "utf8"));
  const { encryptionsalt: salt } = made;

  const { version, deployment } = JSON.parse(readFileSync(copy, "utf8"));
  const secrets_providers = { type: "passphrase", state: { salt } };
  const state = join(scratch, "state.json");
  writeFileSync(state, JSON.stringify({ version, deployment: { ...deployment, secrets_providers } }));
  pulumi("--cwd", scratch, "stack", "import", "--stack", short, "--file", state);

  const file = join(stackConfigDir, `Pulumi.${short}.${ending}`);
  const { config = {}, environment } = existsSync(file) ? (parse(readFileSync(file, "utf8")) ?? {}) : {};
  const secure = made.config[`${name}:stand-in`];
  const isSecret = (one) => typeof one.secure === "string" && Object.keys(one).length === 1;
  const plain = replaced(config, (one) => (isSecret(one) ? secure : undefined));
  writeFileSync(join(folder, "config.yaml"), stringify({ environment, encryptionsalt: salt, config: plain }));
}

try {
  const commands = { save, open };
  if (!Object.hasOwn(commands, command ?? "") || stack === "")
    throw new Error("say what to do, and for which stack: save, open");
  commands[command]();
} catch (error) {
  console.error(`copy.mjs: ${error.message}`);
  process.exitCode = 1;
}
