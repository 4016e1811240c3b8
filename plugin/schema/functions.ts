import { type z } from "zod";
import { type Lookup } from "../../provider/lookups";
import { examplesOf } from "./examples";
import { type FunctionSpec, type ObjectSpec } from "./model";
import { type Types } from "./types";

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export function functionSpec({ name, doc, args, result, list }: Lookup, types: Types): FunctionSpec {
  const owner = capital(name);
  const outputs: ObjectSpec =
    list === undefined
      ? types.object(owner, (result as z.ZodObject).shape, { io: "output" })
      : {
          type: "object",
          properties: {
            [list]: { type: "array", items: types.type(owner, result, { io: "output" }), description: doc },
          },
          required: [list],
        };
  return {
    description: `${doc}\n\n${examplesOf(name)}`,
    inputs: types.object(owner, args.shape, { io: "input" }),
    outputs,
  };
}
