// @ts-check
/** The console's page: one script and one style sheet with all that they need, and the files that go beside them. */
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const copied = ["index.html", "icon.svg"];

/** @param {string} root the repository */
export async function buildPage(root) {
  const [from, to] = [join(root, "console", "page"), join(root, "dist", "console", "page")];
  mkdirSync(to, { recursive: true });
  await build({
    entryPoints: [join(from, "main.tsx")],
    outdir: to,
    bundle: true,
    minify: true,
    format: "esm",
    target: ["chrome123", "firefox121", "safari17.5"],
    legalComments: "eof",
    tsconfig: join(from, "tsconfig.json"),
    logLevel: "error",
  });
  for (const name of copied) copyFileSync(join(from, name), join(to, name));
}
