// @ts-check
/** What a traced preview did when, as the lengths of its parts in milliseconds. */

/**
 * @param {import("./project.mjs").Run} run
 * @returns {Record<string, number>} NaN: there is no such part
 */
export function phases({ startedAt, ms, events }) {
  const at = (/** @type {string} */ program, /** @type {string} */ event) =>
    events.find((one) => one.program === program && one.event === event)?.at ?? NaN;
  const program = (/** @type {string} */ event) => at("program", event);
  const provider = (/** @type {string} */ event) => at("provider", event);
  const classesChecked = program("checked classes") - program("load classes") || 0;
  const classes = program("loaded classes") - program("load classes") - classesChecked;
  return {
    "Pulumi, until the program starts": program("start") - startedAt,
    "SDK, TypeScript and ts-node are loaded": program("load program") - program("start"),
    "ts-node checks and translates the program": program("checked program") - program("load program") + classesChecked,
    "the resource classes are loaded": classes,
    "the program runs": program("loaded program") - program("checked program") - classes - classesChecked,
    "its resources are registered and checked": program("end") - program("loaded program"),
    "Pulumi, after the program": startedAt + ms - program("end"),
    "besides that, a provider starts": provider("ready") - provider("start"),
    "and loads the resource definitions": provider("loaded runtime") - provider("load runtime"),
  };
}
