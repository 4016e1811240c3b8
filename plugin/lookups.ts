import { type InvokeRequest, InvokeResponse } from "@pulumi/pulumi/proto/provider_pb";
import { type Sessions } from "../provider/adapter/sessions";
import { isUnknown } from "../provider/adapter/unknown";
import { type Props } from "../provider/core/definition";
import { UserError } from "../provider/core/user-error";
import { pluginPrefix } from "../provider/constants";
import { checkArguments, type Lookup, lookups } from "../provider/lookups";
import { failures } from "./configuration";
import { received, sent } from "./properties";

const lookupOf = (token: string): Lookup => {
  const found = Object.values<Lookup>(lookups).find(({ name }) => pluginPrefix + name === token);
  if (!found) throw new UserError(`This plugin has no function ${token}.`);
  return found;
};

/** Answers a lookup. A list is under its key, since functions answer objects. */
export async function invoke(request: InvokeRequest, sessions: Sessions): Promise<InvokeResponse> {
  const lookup = lookupOf(request.getTok());
  const args = received(request.getArgs());
  sessions.hide(args.props, args.paths);
  const { inputs, issues } = checkArguments(lookup, args.props, isUnknown);
  const response = new InvokeResponse();
  response.setFailuresList(failures(issues, args));
  if (issues.length > 0) return response;
  const { client } = sessions.current();
  await client.requireOrganization();
  const found = await lookup.run(client, inputs);
  response.setReturn(sent(lookup.list === undefined ? (found as Props) : { [lookup.list]: found }));
  return response;
}
