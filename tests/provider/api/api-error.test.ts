import { inspect } from "node:util";
import { type ErrorKind, isApiError, kindOfStatus } from "../../../provider/api/api-error";
import { Http } from "../../../provider/api/http";
import { resolveSettings } from "../../../provider/api/settings";
import { apiKey, settingsFor } from "../../support/peer";

const http = new Http(settingsFor("https://host/api/v1"));

test.each<[ErrorKind, number[]]>([
  ["invalid", [300, 301, 304, 308, 400, 402, 406, 411, 413, 415, 418, 422, 431, 451, 499]],
  ["denied", [401, 403]],
  ["missing", [404, 410]],
  ["unsupported", [405, 501]],
  ["conflict", [409, 412, 423]],
  ["lost", [408, 504]],
  ["limited", [425, 429]],
  ["unavailable", [503]],
  ["server", [500, 502, 505, 507, 511, 520, 599]],
])("%s: %j", (kind, statuses) => {
  expect(statuses.map(kindOfStatus)).toEqual(statuses.map(() => kind));
});

const mayTry = (address: string): string => `The service at ${address} may be having problems: try again later.`;

const call = "PATCH /consortia/c1";
const at = "https://host/api/v1";
const key = "The API key from the given settings";
test.each<[ErrorKind, number | undefined, string, string]>([
  [
    "unsent",
    undefined,
    "the connection was refused",
    `: the connection was refused. The service at ${at} (from the given settings) cannot be reached: check the address, the network and that the service is running.`,
  ],
  ["lost", undefined, "no answer arrived within 3 s", `: no answer arrived within 3 s. ${mayTry(at)}`],
  ["lost", 504, "late", `: HTTP 504: late. ${mayTry(at)}`],
  ["limited", 429, "slow down!", `: HTTP 429: slow down! ${mayTry(at)}`],
  ["unavailable", 503, "later", `: HTTP 503: later. ${mayTry(at)}`],
  ["server", 500, "oops", `: HTTP 500: oops. ${mayTry(at)}`],
  ["denied", 401, "no", `: HTTP 401: no. ${key} was refused (${at}): set a valid one there.`],
  ["denied", 403, "no", `: HTTP 403: no. ${key} is not allowed to do this (${at}): set a valid one there.`],
  ["conflict", 409, "changed", ": HTTP 409: changed. Once nothing else changes or uses it, try again."],
  [
    "invalid",
    400,
    "too long",
    ": HTTP 400: too long. Correct in the request what the service reports, then try again.",
  ],
  [
    "missing",
    404,
    "none",
    ": HTTP 404: none. Either it was deleted, or the API key from the given settings belongs to another organization: check the key first.",
  ],
  [
    "unsupported",
    405,
    "cannot",
    `: HTTP 405: cannot. Check that ${at} (from the given settings) is the address of the API.`,
  ],
])("a message: call, status, the service's words, the next step: %s %s", (kind, status, errorMessage, sentence) => {
  const error = http.error({ kind, call, status, errorMessage });
  expect(error.message).toBe(call + sentence);
  expect(error).toMatchObject({ kind, call, status, errorMessage, name: "ApiError" });
  expect(isApiError(error)).toBe(true);
  expect(isApiError(error, "conflict", kind)).toBe(true);
  expect(isApiError(error, kind === "conflict" ? "lost" : "conflict")).toBe(false);
});

test("the key never shows, even if the service repeats it or the error is inspected", () => {
  const error = http.error({
    kind: "denied",
    call: "GET /consortia",
    status: 401,
    errorMessage: `bad key ${apiKey} (${apiKey})`,
  });
  expect(error.message).toContain("bad key [secret] ([secret])");
  const seen = inspect(error, { depth: 9, showHidden: true });
  expect([error.message, error.errorMessage, error.stack, JSON.stringify(error), seen].join()).not.toContain(apiKey);
});

test("a page as a message is cut", () => {
  const error = http.error({ kind: "server", call: "GET /x", status: 500, errorMessage: "x".repeat(5000) });
  expect(error.message.length).toBeLessThan(1_300);
});

test("anything else is not an API error", () => expect(isApiError(new Error("x"))).toBe(false));

test.each([
  ["e0abcdefgh-c2VjcmV0", "us", "eu"],
  ["u0abcdefgh-c2VjcmV0", "us", undefined],
  ["u0abcdefgh-c2VjcmV0", "us1", undefined],
  ["k1abcdefgh-c2VjcmV0", "eu", "ko"],
  ["abc", "us", undefined],
])("a refused key %s in region %s: the region that its id names is %s", (key, region, other) => {
  const settings = resolveSettings({ env: {}, given: { apiKey: key, region } });
  const { message } = new Http(settings).error({ kind: "denied", call: "GET /x", status: 401, errorMessage: "no" });
  if (other === undefined) expect(message).not.toContain("The key's id");
  else expect(message).toContain(`The key's id is from region ${other}, but the region is set to ${region}.`);
});
