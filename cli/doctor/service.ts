import { ConsortiumClient, isApiError, type Settings, SettingsError, systemClock } from "../../provider/api";
import { sentence } from "../../provider/api/api-error";
import { otherRegionOfKey } from "../../provider/api/settings";
import { counted } from "../../provider/plain";
import { failure, type Finding, note, ok, unknown, wrong } from "./findings";

/* Checks the service, the organization of the key, and the clocks. */

const patienceMs = 10_000;
/** The clock of an answer is in whole seconds, and the answer takes a while. */
const toleratedMs = 60_000;

export async function service(
  resolve: () => Settings,
): Promise<{ findings: Finding[]; settings?: Settings; reached: boolean }> {
  let settings: Settings;
  try {
    settings = resolve();
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return { findings: [misset(error)], reached: false };
  }
  const { apiKey, region, baseUrl, baseUrlSource, proxy, log } = settings;
  const known = [
    ok("service", `${baseUrl} (from ${baseUrlSource}), region ${region}`),
    ...(proxy ? [note("proxy", proxyText(proxy))] : []),
    ...(log ? [note("log of calls", log.file)] : []),
  ];
  let client: ConsortiumClient | undefined;
  try {
    client = new ConsortiumClient(settings, { patienceMs });
    const consortia = await client.proveKey();
    const organization = await client.organizationOfKey();
    const whose =
      organization === undefined ? "the service does not show its organization" : `organization ${organization}`;
    const key = ok(
      "API key",
      `from ${apiKey.source}: ${whose}; ${counted(consortia.length, "consortium", "consortia")}`,
    );
    return { findings: [...known, key, clockOf(client)], settings, reached: true };
  } catch (error) {
    return {
      findings: [...known, failed(error, settings), ...(client ? [clockOf(client)] : [])],
      settings,
      reached: false,
    };
  } finally {
    await client?.close();
  }
}

const misset = (error: SettingsError): Finding =>
  failure("settings", error, "Correct the setting, as docs/settings.md says.");

const proxyText = ({ address, source }: NonNullable<Settings["proxy"]>): string => {
  const { protocol, host } = new URL(address); // without user name and password
  return `${protocol}//${host} (from ${source})`;
};

function failed(error: unknown, settings: Settings): Finding {
  if (error instanceof SettingsError) return misset(error);
  if (!isApiError(error)) throw error;
  const about = error.kind === "denied" ? "API key" : /\bproxy\b/i.test(error.errorMessage) ? "proxy" : "service";
  const status = error.status === undefined ? "" : ` (HTTP ${error.status})`;
  const region = error.kind === "denied" ? otherRegionOfKey(settings) : undefined;
  const next = region ? `Set CONSORTIUM_REGION=${region}: the key's id is from that region.` : error.next;
  return wrong(about, sentence(`${error.errorMessage}${status}`).slice(0, -1), next ?? "Try again later.", error.code);
}

function clockOf(client: ConsortiumClient): Finding {
  const theirs = client.http.serviceTime(systemClock.now());
  if (theirs === undefined) return unknown("clock", "the service's responses do not show its time");
  const ahead = Date.now() - theirs;
  if (Math.abs(ahead) < toleratedMs) return ok("clock", "agrees with the service's");
  const minutes = Math.round(Math.abs(ahead) / 60_000);
  const text = `this machine's is ${minutes} min ${ahead > 0 ? "ahead of" : "behind"} the service's`;
  return wrong(
    "clock",
    text,
    "Synchronize both clocks with NTP: the provider tells new objects from old ones by their times.",
  );
}
