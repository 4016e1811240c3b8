import { type Advice } from "./advice";

/**
 * Why a service refuses a well-formed request:
 * - `quota`: the limit of the organization, or of its plan, is reached
 * - `content`: something is in it, belongs to it or depends on it
 * - `early`: it, or something around it, is still being created, changed or deleted
 * - `name`: another object has the name
 */
export type Conflict = "quota" | "content" | "early" | "name";

export interface Refusal {
  status?: number;
  /** The service's own words. */
  errorMessage: string;
}

/** Statuses that services use for such refusals. Other statuses mean something else, whatever the text says. */
const refusing = [400, 402, 403, 405, 409, 412, 422, 423, 429];
/** Statuses that leave the reason to the text, including that of a 2xx that contains a refusal. */
const isPlain = (status: number): boolean => [409, 412, 423].includes(status) || status < 300;

/** A limit on a single value is not a quota. */
const ofOneValue = /\b(characters?|letters?|digits?|bytes?|long|length|size of|payload)\b/;

/** The end of a message about a refusal without a reason. */
const noReason = ", without a reason";
export const silent = (answer: string): string => `the service answers ${answer}${noReason}`;
export const isSilent = ({ errorMessage }: Refusal): boolean => errorMessage.endsWith(noReason);

/** Things with a limit other than the rate of calls: services often answer 429 for these. */
const ofObjects = /\b(consorti(a|um)|environments?|member(ship)?s?|nodes?|services?|zones?|credentials?)\b/;
const ofCalls = /\b(requests?|calls?|rate|per|seconds?|minutes?|hours?|days?)\b/;

/** The first match counts. A place that is still being emptied will be empty soon, so `early` precedes `content`. */
const words: [Conflict, RegExp][] = [
  [
    "name",
    /\b(duplicate|already (exists?|taken|registered)|(not|be|must be) unique)\b|name\b.*\b(is|already|in) (taken|used|use)\b/,
  ],
  [
    "quota",
    /\b(quota|limits?( (of )?\d+( [\w-]+)?)? (is |are |was |has been )?(reached|exceeded|hit)|(reached|exceeds?|exceeded|exceeding|over|hit) (the|your|its|a) ([\w-]+ )*(limit|maximum)|maximum (number|of|allowed)|maximum\b.*\b(reached|exceeded)|(at most|no more than|only|up to) \d+ [\w ]*(allowed|permitted)|too many|upgrade|(your|the|current) (plan|subscription))\b/,
  ],
  [
    "early",
    /\b(initiali[sz]ing|provisioning|being (created|made|set up|configured|provisioned|deployed|deleted|removed|updated|changed|processed)|(is|are|currently|still) (creating|deleting|updating|configuring|deploying|starting|restarting|going|processing)|at a time|(please|must) wait|wait (until|for)|(?<!\b(not|no longer|isn't) )(already running|in progress|under way|underway|pending)|not (yet )?(ready|started|live|finished)|not yet|busy|locked|try again (later|soon|in))\b/,
  ],
  [
    "content",
    /\b(not empty|non-?empty|still (has|have|owns?|holds?|contains?|used|in use|referenced)|in use|uses it|used by|owns?|contains?|depend(s|ed|ents?|encies)? ?(on|upon)?|referenced by|belongs? to|(delete|remove)[\w ]* first|(has|have|with) (active |existing |running |associated |attached )*(\d+ )?(nodes?|environments?|memberships?|members|children|credentials|resources))\b/,
  ],
];

/** Guesses the reason from the service's wording, which is not specified. undefined: it is not clear. */
export function conflictOf({ status, errorMessage }: Refusal): Conflict | undefined {
  if (status === undefined || !(refusing.includes(status) || isPlain(status))) return undefined;
  const text = errorMessage.toLowerCase().replace(/ ?\([^)]*\)/g, ""); // asides, such as the number in "limit (2) reached"
  const found = words.find(([, pattern]) => pattern.test(text))?.[0];
  if (found === "quota" && ofOneValue.test(text)) return undefined;
  if (isPlain(status)) return found;
  if (status === 402) return "quota";
  if (status === 429) return found === "quota" && ofObjects.test(text) && !ofCalls.test(text) ? found : undefined;
  // For a malformed or forbidden request, only unambiguous words count.
  return found === "quota" || (found === "name" && status !== 403) ? found : undefined;
}

export const conflictAdvice = (conflict: Conflict, { nameTaken, again }: Advice): string =>
  ({
    quota:
      "The organization has reached its limit: delete one that is not needed, or ask whoever runs the service for a higher limit.",
    content: `Something is in it, or belongs to it: delete that first, then ${again}.`,
    early: `Wait until that has finished, then ${again}.`,
    name: nameTaken,
  })[conflict];
