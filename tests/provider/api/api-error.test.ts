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

describe("a message has the call, the status, the service's words and the next step", () => {
  const call = "PATCH /consortia/c1";
  test.each<[ErrorKind, number | undefined, string, RegExp]>([
    [
      "unsent",
      undefined,
      "the connection was refused",
      /^PATCH \/consortia\/c1: the connection was refused\. The service at https:\/\/host\/api\/v1 \(from the given settings\) cannot be reached: check the address/,
    ],
    [
      "lost",
      undefined,
      "no answer arrived within 3 s",
      /^PATCH \/consortia\/c1: no answer arrived within 3 s\. .*try again/,
    ],
    ["lost", 504, "late", /HTTP 504: late\. .*try again/],
    ["limited", 429, "slow down!", /HTTP 429: slow down! .*try again/],
    ["unavailable", 503, "later", /HTTP 503: later\. .*try again/],
    ["server", 500, "oops", /HTTP 500: oops\. .*try again/],
    [
      "denied",
      401,
      "no",
      /HTTP 401: no\. The API key from the given settings was refused \(https:\/\/host\/api\/v1\): set a valid one there\.$/,
    ],
    ["denied", 403, "no", /HTTP 403: no\. The API key from the given settings is not allowed to do this/],
    ["conflict", 409, "the limit is reached", /HTTP 409: the limit is reached\./],
    [
      "invalid",
      400,
      "name is too long",
      /HTTP 400: name is too long\. Correct in the request what the service reports, then try again\.$/,
    ],
    ["missing", 404, "no such thing", /HTTP 404: no such thing\./],
    ["unsupported", 405, "cannot", /HTTP 405: cannot\./],
  ])("%s %s", (kind, status, errorMessage, sentence) => {
    const error = http.error({ kind, call, status, errorMessage });
    expect(error.message).toMatch(sentence);
    expect(error).toMatchObject({ kind, call, status, errorMessage, name: "ApiError" });
    expect(isApiError(error)).toBe(true);
    expect(isApiError(error, "conflict", kind)).toBe(true);
    expect(isApiError(error, kind === "conflict" ? "lost" : "conflict")).toBe(false);
  });
});

test("the key never shows, not even where the service repeats it, or in what can be inspected", () => {
  const error = http.error({
    kind: "denied",
    call: "GET /consortia",
    status: 401,
    errorMessage: `bad key ${apiKey} (${apiKey})`,
  });
  expect(error.message).toContain("bad key [secret] ([secret])");
  for (const shown of [
    error.message,
    error.errorMessage,
    String(error.stack),
    JSON.stringify(error),
    inspect(error, { depth: 9, showHidden: true }),
  ]) {
    expect(shown).not.toContain(apiKey);
  }
});

test("a page as a message is cut", () => {
  const error = http.error({ kind: "server", call: "GET /x", status: 500, errorMessage: "x".repeat(5000) });
  expect(error.message.length).toBeLessThan(1_300);
});

test("anything else is no API error", () => expect(isApiError(new Error("x"))).toBe(false));

test.each([
  ["e0abcdefgh-c2VjcmV0", "us", "eu"],
  ["u0abcdefgh-c2VjcmV0", "us", undefined],
  ["u0abcdefgh-c2VjcmV0", "us1", undefined],
  ["k1abcdefgh-c2VjcmV0", "eu", "ko"],
  ["abc", "us", undefined],
])("a refused key %s in region %s: the region that its id names is %s", (key, region, other) => {
  const settings = resolveSettings({ env: {}, given: { apiKey: key, region } });
  const { message } = new Http(settings).error({ kind: "denied", call: "GET /x", status: 401, errorMessage: "no" });
  if (other === undefined) expect(message).not.toContain("The id of the key");
  else expect(message).toContain(`The id of the key is one of region ${other}, and the region is ${region}.`);
});
