import { unknown } from "../provider/adapter/unknown";
import { type Definition, inputMeta, type Props } from "../provider/core/definition";
import { isUnset } from "../provider/core/same-value";

/* What a preview answers: what is known already, and the rest as unknown, so that programs do not take it for absent. */

const outputsWith = ({ outputs }: Definition, value: (key: string) => unknown): Props =>
  Object.fromEntries(Object.keys(outputs.shape).map((key) => [key, value(key)]));

/** Inputs are known as they were given; one that the service chooses, and all outputs, when it is made. */
export const createPreview = (definition: Definition, inputs: Props): Props => ({
  ...outputsWith(definition, () => unknown),
  ...chosenByService(definition, inputs, {}),
  ...inputs,
});

/** What a change in place leaves as it is stays known; an object with verbs of its own (a tether) may change in all. */
export const updatePreview = (definition: Definition, olds: Props, inputs: Props): Props => ({
  ...olds,
  ...outputsWith(definition, (key) =>
    definition.kind === "custom" || key === "revision" || isUnset(olds[key]) ? unknown : olds[key],
  ),
  ...chosenByService(definition, inputs, olds),
  ...inputs,
});

function chosenByService(definition: Definition, inputs: Props, olds: Props): Props {
  const open = Object.keys(definition.inputs.shape).filter(
    (key) => inputMeta(definition, key)?.computed && isUnset(inputs[key]),
  );
  return Object.fromEntries(open.map((key) => [key, olds[key] ?? unknown]));
}
