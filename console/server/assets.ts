import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";

/** The page as `npm run build` has made it: all that it needs, so that it asks for nothing elsewhere. */
const folder = join(__dirname, "..", "page");

const types: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

export interface Asset {
  type: string;
  content: Buffer;
}

/** By name. @throws Error that says what is missing */
export function readAssets(): Map<string, Asset> {
  try {
    const names = readdirSync(folder).filter((name) => types[extname(name)] !== undefined);
    const assets = names.map((name) => [
      name,
      { type: types[extname(name)]!, content: readFileSync(join(folder, name)) },
    ]);
    const all = new Map(assets as [string, Asset][]);
    if (all.has("index.html")) return all;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  throw new Error(`The page of the console is not in ${folder}: run \`npm run build\`.`);
}
