import { ServerResponse } from "node:http";
import { definitions } from "../../provider/resources";

/* What the log of a run must say, and must not: by what services of this process answered. */

/** The classes of all kinds. */
export const kinds = Object.values(definitions).map(({ type }) => type);

/** Names of what nobody else may see, wherever they are in an answer. */
const secretName = /pass|secret|token|mnemonic|private|^details$/i;

export interface Answered {
  /** The number that each answer had in its header. */
  ids: string[];
  /** What calls were authorized with, and what answers hold. */
  secrets: Set<string>;
}

/** From here to the end of the test, the answers have numbers, and their secrets are collected. */
export function answered(): Answered {
  const seen: Answered = { ids: [], secrets: new Set() };
  const { prototype } = ServerResponse;
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with their own `this` below
  const { writeHead, end } = prototype;
  jest.spyOn(prototype, "writeHead").mockImplementation(function (this: ServerResponse, ...args: unknown[]) {
    seen.ids.push(`r-${seen.ids.length + 1}`);
    this.setHeader("x-request-id", seen.ids.at(-1)!);
    return Reflect.apply(writeHead, this, args) as unknown;
  } as typeof writeHead);
  jest.spyOn(prototype, "end").mockImplementation(function (this: ServerResponse, ...args: unknown[]) {
    const [, key] = this.req.headers.authorization?.split(" ") ?? [];
    if (key !== undefined) seen.secrets.add(key);
    if (typeof args[0] === "string" && args[0] !== "")
      secretsIn(JSON.parse(args[0])).forEach((one) => seen.secrets.add(one));
    return Reflect.apply(end, this, args) as unknown;
  } as typeof end);
  return seen;
}

afterEach(() => jest.restoreAllMocks());

/** Texts and numbers in what is called like a secret. */
export function secretsIn(value: unknown, isSecret = false): string[] {
  if (typeof value === "object" && value !== null)
    return Object.entries(value).flatMap(([name, inner]) => secretsIn(inner, isSecret || secretName.test(name)));
  return isSecret && ["string", "number"].includes(typeof value) ? [String(value)] : [];
}

/** Those that a text shows: as they are, in base64, or in a URL. */
export const shownIn = (text: string, secrets: Iterable<string>): string[] =>
  [...secrets].filter((one) =>
    [one, Buffer.from(one).toString("base64"), encodeURIComponent(one)].some((written) => text.includes(written)),
  );

/** The lines of a log, each of which is whole: whose call it was, what was asked, and what came of it. */
export function linesOf(log: string, { ids }: Answered) {
  const lines = log
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, string>);
  for (const line of lines) {
    expect(line).toMatchObject({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
      level: Number(line.status) < 400 ? "info" : "error",
      pid: expect.any(Number) as number,
      verb: expect.stringMatching(/^(create|read|update|delete)$/) as string,
      resource: expect.stringMatching(/^[A-Z]\w+ "\w/) as string,
      method: expect.stringMatching(/^(GET|POST|PUT|PATCH|DELETE)$/) as string,
      path: expect.stringMatching(/^\//) as string,
      status: expect.any(Number) as number,
      ms: expect.any(Number) as number,
      attempt: 1,
    });
    expect(ids).toContain(line.requestId);
  }
  expect(new Set(lines.map(({ requestId }) => requestId)).size).toBe(lines.length);
  return lines;
}
