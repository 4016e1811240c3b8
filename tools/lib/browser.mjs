// @ts-check
/** A headless Chromium with nothing of a user's: no profile, no extensions, no calls home. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const args = [
  ...["--disable-gpu", "--no-first-run", "--disable-background-networking"],
  ...["--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"],
];

/**
 * @param {string} executablePath
 * @returns {Promise<{ context: import("playwright-core").BrowserContext, close: () => Promise<void> }>}
 */
export async function openBrowser(executablePath) {
  const folder = mkdtempSync(join(tmpdir(), "consortium-browser-"));
  const root = process.getuid?.() === 0;
  const options = { executablePath, args: root ? ["--no-sandbox", ...args] : args, headless: true };
  const context = await chromium.launchPersistentContext(folder, options);
  return {
    context,
    async close() {
      await context.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
