import { resolveSettings } from "../../provider/api";
import type { Console } from "../../console/server/console";
import type { Service } from "../../service";

/** The console of a service in this process; undefined, and a sentence to standard error, where there can be none. */
export async function ownConsole(
  { baseUrl, apiKey }: Service,
  port: number,
  stackExports?: readonly string[],
): Promise<Console | undefined> {
  try {
    const { startConsole } = await import("../../console/server/console.js");
    const settings = resolveSettings({ env: {}, provider: { baseUrl, apiKey, allowHttp: true } });
    return await startConsole({ settings, port, stackExports });
  } catch (error) {
    console.error(`consortium: no console: ${(error as Error).message}`);
    return undefined;
  }
}
