import Link from "http-link-header";
import { isApiError } from "./api-error";
import { type Answer } from "./http";

interface Listing {
  items: unknown[];
  /** Why there may be more. undefined: this is all. */
  part?: string;
  /** Whether only a total says that there is more. */
  isCounted?: boolean;
}

/** A limit for lists that never end. */
const mostPages = 1_000;

type Headers = Answer["headers"];

const all = (value: Headers[string]): string => (Array.isArray(value) ? value.join(", ") : (value ?? ""));

/**
 * The address of the next page (RFC 8288), why it cannot be read, or undefined at the end.
 * The key goes only to the host of the first page.
 */
function nextPage(headers: Headers, from: URL): URL | { unreadable: string } | undefined {
  const text = all(headers.link);
  let link: Link.Reference | undefined;
  try {
    link = Link.parse(text).rel("next")[0];
  } catch {
    return /next/i.test(text) ? { unreadable: "its Link header cannot be read" } : undefined;
  }
  if (!link) return undefined;
  if (!URL.canParse(link.uri, from.href)) return { unreadable: "the address of its next page is invalid" };
  const next = new URL(link.uri, from);
  if (next.origin === from.origin) return next;
  return { unreadable: `its next page is at ${next.origin}, and the API key is sent to ${from.origin} alone` };
}

/** The total number, if the answer has it. */
function totalOf(headers: Headers): { total: number; header: string } | undefined {
  const [, size] = /\/(\d+)\s*$/.exec(all(headers["content-range"])) ?? [];
  if (size !== undefined) return { total: Number(size), header: "Content-Range" };
  const [count] = /^\d+$/.exec(all(headers["x-total-count"]).trim()) ?? [];
  return count === undefined ? undefined : { total: Number(count), header: "X-Total-Count" };
}

/**
 * Reads a list to its end, page by page, as `Link` names them. A list that ends in any other way counts as a part.
 * @param isWhole whether the list has no filter, so that a total counts all of it
 */
export async function readPages(
  ask: (page?: URL) => Promise<Answer>,
  elementsOf: (answer: Answer) => unknown[],
  isWhole: boolean,
): Promise<Listing> {
  const items = new Map<string, unknown>();
  const visited = new Set<string>();
  const listing = (part?: string, isCounted = false): Listing => ({
    items: [...items.values()],
    ...(part !== undefined && { part, isCounted }),
  });
  let page: URL | undefined;
  let overlaps = false;
  for (;;) {
    let answer: Answer;
    try {
      answer = await ask(page);
    } catch (error) {
      // The first page existed, so this answer says nothing about the list.
      const isRefused = isApiError(error, "missing", "unsupported", "denied", "invalid", "conflict");
      if (!isRefused || page === undefined) throw error;
      return listing(`its next page was refused (HTTP ${error.status})`);
    }
    visited.add(answer.url);
    const shown = elementsOf(answer).map((element) => [identity(element), element] as const);
    overlaps ||= shown.some(([id]) => items.has(id));
    for (const [id, element] of shown) items.set(id, element);
    const { total, header } = (isWhole && totalOf(answer.headers)) || {};
    if (total !== undefined && total <= items.size) return listing();
    const next = nextPage(answer.headers, new URL(answer.url));
    if (!next) {
      if (total !== undefined) return listing(`it says that there are ${total} (${header})`, true);
      if (answer.status === 206) return listing("it says that it is partial (HTTP 206)");
      // What moved to another page meanwhile may have taken the place of something that was on neither.
      return listing(overlaps ? "its pages overlap: it may be changing" : undefined);
    }
    if (!(next instanceof URL)) return listing(next.unreadable);
    if (visited.has(next.href)) return listing("its next page is one that was read already");
    if (visited.size >= mostPages) return listing(`it has more than ${mostPages} pages`);
    page = next;
  }
}

function identity(element: unknown): string {
  const { _id, id } = Object(element) as { _id?: unknown; id?: unknown };
  return JSON.stringify(_id ?? id ?? element);
}
