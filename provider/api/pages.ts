import Link from "http-link-header";
import { isApiError } from "./api-error";
import { type Answer } from "./http";

/** The result of a list call with all its pages. */
interface Listing {
  items: unknown[];
  /** Why there may be more. undefined: this is all. */
  part?: string;
  /** Whether only a total says that there is more. */
  isCounted?: boolean;
}

/** A limit for lists that never end. */
const mostPages = 1_000;
const tooLong = `it has more than ${mostPages} pages`;
/** Lengths at which a list may be cut without saying so: usual page sizes and their multiples. */
const usualSizes = [10, 12, 16, 25];
const isRound = (count: number): boolean => count > 0 && usualSizes.some((size) => count % size === 0);

/** A limit for pages with nothing new. */
const mostIdle = 3;

/** How often to read a list if its pages do not fit together. */
const mostReadings = 3;

type Headers = Answer["headers"];

const all = (value: Headers[string]): string => (Array.isArray(value) ? value.join(", ") : (value ?? ""));

/**
 * The address of the next page (RFC 8288), why it cannot be read, or undefined at the end.
 * The key goes only to the host of the first page.
 */
function nextPage(headers: Headers, from: URL): URL | { unreadable: string } | undefined {
  const text = all(headers.link);
  let links: Link.Reference[];
  try {
    links = Link.parse(text).rel("next");
  } catch {
    return /next/i.test(text) ? { unreadable: "its Link header cannot be read" } : undefined;
  }
  // A link with another anchor is about something else.
  const own = links.find(({ anchor }) => anchor === undefined || new URL(anchor, from).href === from.href);
  if (!own) return undefined;
  if (!URL.canParse(own.uri, from.href)) return { unreadable: "the address of its next page is invalid" };
  const next = new URL(own.uri, from);
  next.hash = "";
  if (next.origin === from.origin && !next.username) return next;
  return { unreadable: `its next page is at ${next.origin}, and the API key is sent to ${from.origin} alone` };
}

/** The total number, if the answer has it. */
function totalOf(headers: Headers): { total: number; header: string } | undefined {
  const [, size] = /\/(\d+)\s*$/.exec(all(headers["content-range"])) ?? [];
  if (size !== undefined) return { total: Number(size), header: "Content-Range" };
  const [count] = /^\d+$/.exec(all(headers["x-total-count"]).trim()) ?? [];
  return count === undefined ? undefined : { total: Number(count), header: "X-Total-Count" };
}

type Ask = (which: { page?: URL; skip?: number }) => Promise<Answer>;
type ElementsOf = (answer: Answer) => unknown[];

/**
 * Reads a list to its end, page by page. If its pages do not fit together, elements may have been skipped while others were added, removed
 * or reordered. Then it is read again; if the doubt remains, the list counts as partial.
 * @param ask requests the first page, the one at an address, or what comes after so many elements
 * @param elementsOf the elements of a page
 * @param isWhole whether the list has no filter, so that a total counts all of it
 */
export async function readPages(ask: Ask, elementsOf: ElementsOf, isWhole: boolean): Promise<Listing> {
  const all = new Map<string, unknown>();
  let before: string | undefined;
  for (let reading = 1; ; reading++) {
    const { items, part, isCounted, doubt, pages } = await readOnce(ask, elementsOf, isWhole);
    for (const item of items) all.set(identity(item), item);
    // Pages of different lengths are normal for a service that repeats them exactly.
    const isSame = doubt === "shrink" && before === pages;
    if (part !== undefined || doubt === undefined || isSame)
      return { items: [...all.values()], ...(part !== undefined && { part, isCounted }) };
    if (reading >= mostReadings)
      return { items: [...all.values()], part: `its pages ${doubt}, each time that it is read: it may be changing` };
    before = pages;
  }
}

interface Reading extends Listing {
  /** Why something may have been skipped: two pages show the same, or a page before the last is shorter than the one before it. */
  doubt?: "overlap" | "shrink";
  /** Items by page. */
  pages: string;
}

async function readOnce(ask: Ask, elementsOf: ElementsOf, isWhole: boolean): Promise<Reading> {
  const items: unknown[] = [];
  const pages: string[][] = [];
  const known = new Set<string>();
  const visited = new Set<string>();
  let page: URL | undefined;
  let skip: number | undefined;
  let idle = 0;
  /** What was read before asking for what comes after it. */
  let before: Reading | undefined;
  for (;;) {
    let answer: Answer;
    try {
      answer = await ask({ ...(page && { page }), ...(skip !== undefined && { skip }) });
    } catch (error) {
      // The first page existed, so this answer says nothing about the list.
      const isRefused = isApiError(error, "missing", "unsupported", "denied", "invalid", "conflict");
      if (!isRefused || visited.size === 0) throw error;
      if (before) return before; // the service does not support `skip`
      return { items, pages: "", part: `its next page was refused (HTTP ${error.status})` };
    }
    visited.add(answer.url);
    const shown = elementsOf(answer);
    const news = shown.filter((element) => !known.has(identity(element)));
    for (const element of news) known.add(identity(element));
    items.push(...news);
    pages.push(shown.map(identity));
    // A service that ignores `skip` answers with elements that are known already.
    const isAgain = skip !== undefined && news.length === 0;
    idle = news.length > 0 ? 0 : idle + 1;
    const end = (why?: string): Reading => {
      const { total, header } = totalOf(answer.headers) ?? {};
      const read = { items, pages: JSON.stringify(pages) };
      if (isWhole && total !== undefined && total <= items.length) return read;
      const short = isWhole && total !== undefined ? `it says that there are ${total} (${header})` : undefined;
      const unsaid = answer.status === 206 ? "it says that it is partial (HTTP 206)" : undefined;
      const part = why ?? short ?? unsaid;
      const doubt = doubtOf(isAgain ? pages.slice(0, -1) : pages);
      const isCounted = part !== undefined && part === short;
      return { ...read, ...(part !== undefined && { part, isCounted }), ...(doubt !== undefined && { doubt }) };
    };
    const next = nextPage(answer.headers, new URL(answer.url));
    if (!next) {
      // A list exactly as long as a usual page may continue without saying so. One with a higher total does, or its total is wrong.
      const { total } = totalOf(answer.headers) ?? {};
      const mayGoOn = total === undefined ? isRound(items.length) : isWhole && total > items.length;
      const isQuestioned = page === undefined && answer.status !== 206 && news.length > 0 && mayGoOn;
      if (!isQuestioned) return end();
      if (visited.size >= mostPages) return end(tooLong);
      before = end();
      skip = items.length;
      continue;
    }
    if (!(next instanceof URL)) return end(next.unreadable);
    if (visited.has(next.href)) return end("its next page is one that was read already");
    if (idle >= mostIdle) return end("its pages repeat without end");
    if (visited.size >= mostPages) return end(tooLong);
    page = next;
  }
}

function doubtOf(pages: string[][]): Reading["doubt"] {
  const all = pages.flatMap((page) => [...new Set(page)]);
  if (new Set(all).size < all.length) return "overlap";
  return pages.slice(1, -1).some((page, at) => page.length < pages[at]!.length) ? "shrink" : undefined;
}

function identity(element: unknown): string {
  const { _id, id } = Object(element) as { _id?: unknown; id?: unknown };
  return JSON.stringify(_id ?? id ?? element);
}
