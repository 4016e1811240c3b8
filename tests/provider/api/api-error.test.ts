import { inspect } from "node:util";
import { type ErrorKind, isApiError, kindOfStatus } from "../../../provider/api/api-error";
import { type ErrorCode } from "../../../provider/errors";
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

const at = "https://host/api/v1";
const address = `${at} \\(from the given settings\\)`;
const later = `^The service at ${at} may be having problems: try again later\\.`;
test.each<[ErrorKind, number | undefined, ErrorCode, next: string]>([
  [
    "unsent",
    undefined,
    "unreachable",
    `^The service at ${address} cannot be reached: check the address, the network and`,
  ],
  ["lost", undefined, "answer-lost", later],
  ["lost", 504, "answer-lost", later],
  ["limited", 429, "too-many-calls", later],
  ["unavailable", 503, "service-failed", later],
  ["server", 500, "service-failed", later],
  [
    "denied",
    401,
    "key-refused",
    `^The API key from the given settings was refused \\(${at}\\): set a valid one there\\.`,
  ],
  ["denied", 403, "not-allowed", `^The API key from the given settings is not allowed to do this \\(${at}\\): set a`],
  ["conflict", 409, "conflict", "^Once nothing else changes or uses it, try again\\."],
  ["invalid", 400, "request-refused", "^Correct in the request what the service reports, then try again\\."],
  ["missing", 404, "not-found", "^Check the key first: .* the API key from the given settings belongs to another org"],
  ["unsupported", 405, "unsupported", `^Check that ${address} is the address of the API\\.`],
])("a message: the next step, call, status, the service's words: %s %s", (kind, status, code, next) => {
  for (const errorMessage of ["it is so", "it is so!"]) {
    const call = "PATCH /consortia/c1";
    const error = http.error({ kind, call, status, errorMessage });
    expect(error).toMatchObject({ code, kind, call, status, errorMessage, name: "ApiError" });
    expect(error.message).toMatch(new RegExp(`${next}.* ${call}: ${status ? `HTTP ${status}: ` : ""}it is so[.!]$`));
  }
  const error = http.error({ kind, call: "GET /x", errorMessage: "" });
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
