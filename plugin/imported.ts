import { check } from "../provider/core/check";
import { type Definition, inputMeta, nameKey, nameOf, type Props } from "../provider/core/definition";
import { isUnset } from "../provider/core/same-value";
import { inputsOf } from "../provider/core/state";
import { UserError } from "../provider/core/user-error";
import { insteadOfImport } from "../provider/constants";

/** What is known of an object before it is read: where the service shows no name, it is taken for that of the resource. */
export function beforeRead(definition: Definition, resourceName: string, state: Props): Props {
  const key = nameKey(definition);
  return key === undefined ? state : { [key]: resourceName, ...state };
}

/** The inputs of a program that is to change nothing: without what the service chose itself. */
export function importedInputs(definition: Definition, state: Props): Props {
  const given = Object.entries(inputsOf(definition, state));
  return Object.fromEntries(given.filter(([key, value]) => !inputMeta(definition, key)?.computed && !isUnset(value)));
}

/** What people have to know of an import that was possible. @throws UserError for one that no program could stand for */
export function remarksOn(definition: Definition, id: string, inputs: Props): string[] {
  const what = `${nameOf(definition, inputs)} (${id})`;
  const { issues } = check(definition, inputs, () => false);
  const [issue] = issues;
  if (issue) {
    const missing = issues.filter(({ property }) => inputs[property] === undefined).map(({ property }) => property);
    const why = missing.length > 0 ? `the service does not show ${missing.join(" and ")}` : issue.reason;
    const instead = insteadOfImport[definition.type];
    throw new UserError(`${what} cannot be imported: ${why}.${instead === undefined ? "" : ` ${instead}`}`);
  }
  return definition.kind === "collection" && definition.untold ? [`${what}: ${definition.untold}`] : [];
}
