import { execFileSync } from "node:child_process";
import { chmodSync, readdirSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { temporary, writeIn } from "../fleet/made";
import { secret } from "../cli/plans";
import { shared } from "./files";

/* The copies of states without secrets that copy.mjs makes, from a stub of Pulumi. For previews of them, see e2e/gitops. */

test("a copy has the file name that preview.sh looks for, no secret of any depth, and is of the newest state", () => {
  const folder = temporary();
  chmodSync(writeIn(folder, "bin/pulumi", "#!/bin/sh\ncat state.json\n"), 0o755);
  const PATH = `${join(folder, "bin")}${delimiter}${process.env.PATH}`;
  const save = (stack: string, name: string): void => {
    const deployment = { secrets_providers: {}, resources: [{ outputs: { name, all: [{ a: secret }, secret] } }] };
    writeIn(folder, "state.json", JSON.stringify({ version: 3, deployment }));
    execFileSync(join(shared, "copy.mjs"), ["save", stack], { cwd: folder, env: { ...process.env, PATH } });
  };
  for (const name of ["old", "new"]) for (const stack of ["dev", "acme/trade/dev"]) save(stack, name);
  expect(readdirSync(join(folder, "copies")).sort()).toEqual(["acme.trade.dev.json", "dev.json"]);
  for (const file of ["acme.trade.dev.json", "dev.json"]) {
    const hidden = { ...secret, ciphertext: undefined, plaintext: '"[secret]"' };
    const text = readFileSync(join(folder, "copies", file), "utf8");
    expect(JSON.parse(text)).toEqual({
      version: 3,
      deployment: { resources: [{ outputs: { name: "new", all: [{ a: hidden }, hidden] } }] },
    });
  }
});
