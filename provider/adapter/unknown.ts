/** How an unknown value of a preview arrives, by its type (Pulumi's wire format; programs in Node.js send the first for all). */
const markers: ReadonlySet<unknown> = new Set([
  "04da6b54-80e4-46f7-96ec-b56ff0331ba9", // text
  "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7", // boolean
  "3eeb2bf0-c639-47a8-9e75-3b44932eb421", // number
  "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2", // list
  "030794c1-ac77-496b-92df-f27374a8bd58", // asset
  "e48ece36-62e2-4504-bad9-02848725956a", // archive
  "dd056dcd-154b-4c76-9bd3-c8f88648b5ff", // object
]);

/** What a provider answers for an output that only the run itself can tell. */
export const [unknown] = markers;

/** Whether a value is unknown in a preview, or holds one that is. */
export function isUnknown(value: unknown): boolean {
  if (markers.has(value)) return true;
  return typeof value === "object" && value !== null && Object.values(value).some(isUnknown);
}
