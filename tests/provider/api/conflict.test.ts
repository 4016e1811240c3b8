import { type Conflict, conflictAdvice, conflictOf } from "../../../provider/api/conflict";
import { clientAdvice } from "../../../provider/api/advice";
import { kindOfStatus } from "../../../provider/api/api-error";
import { Http } from "../../../provider/api/http";
import { pulumiAdvice } from "../../../provider/core/advice";
import { settingsFor } from "../../support/peer";

const settings = settingsFor("https://host/api/v1");

/* Services use their own words. Unclear ones get general advice, because wrong advice is worse. */

const table: Record<Conflict, [status: number, words: string][]> = {
  quota: [
    [409, "The limit is reached: at most 2 consortia are allowed here."],
    [409, "limit reached"],
    [409, "Quota exceeded for consortia"],
    [402, "Payment required"],
    [402, "no explanation was given"],
    [403, "Your plan allows 4 nodes"],
    [403, "maximum number of environments reached"],
    [400, "You have reached the maximum of 3 environments"],
    [422, "Too many nodes in this environment"],
    [409, "environments limit exceeded"],
    [412, "This would exceed the node limit: at most 4 nodes allowed; exceeds the limit"],
    [409, "Only 4 nodes are allowed in an environment"],
    [403, "Upgrade to add more members"],
    [403, "Consortium limit (2) reached"],
    [403, "Environment limit (3 per consortium) has been reached for this organization."],
    [409, "Node limit of 4 nodes reached"],
    [403, "limit 2 exceeded"],
    [429, "You have reached the maximum number of environments (3)"],
  ],
  content: [
    [409, "The configuration c1 cannot be deleted: the node n1 uses it."],
    [409, "The membership m1 cannot be deleted: it still owns nodes in environment(s) e1."],
    [409, "The consortium c1 cannot be deleted: it still has 1 environment(s) and 2 membership(s)."],
    [409, "consortium is not empty"],
    [409, "Membership has active nodes"],
    [409, "Cannot delete: resource in use"],
    [412, "Delete all environments first"],
    [423, "It is referenced by 2 environments"],
    [409, "member owns 3 nodes"],
    [409, "There are nodes that depend on it"],
  ],
  early: [
    [409, "another object of this environment is being set up"],
    [409, "Environment is being configured"],
    [409, "The environment is updating"],
    [409, "Node n1 is starting"],
    [409, "Please wait until node n1 has started"],
    [409, "Only one create at a time"],
    [409, "The environment e1 cannot be deleted: it is still initializing."],
    [409, "The environment e1 is being deleted."],
    [409, "Provisioning has not finished"],
    [423, "Locked"],
    [409, "Another operation is in progress"],
    [409, "consortium still has nodes that are being deleted"],
    [412, "environment is not ready"],
    [409, "node is busy, try again later"],
  ],
  name: [
    [409, "A consortium with this name already exists"],
    [409, "name is taken"],
    [409, "The name acme is already in use"],
    [400, "duplicate name"],
    [422, "name must be unique"],
    [409, "org_name: already taken"],
    [409, "org_name harbour already in use"],
    [409, 'org_name "harbour" (m1) is already in use in this consortium'],
    [409, "orgName already in use"],
    [422, "env_name: in use"],
    [422, "name must be unique in its first 20 characters"],
  ],
};

const codes: Record<string, string> = {
  quota: "limit-reached",
  content: "not-empty",
  early: "conflict",
  name: "name-taken",
};

describe.each(Object.entries(table))("%s", (conflict, rows) => {
  test.each(rows)("HTTP %i: %s", (status, errorMessage) => {
    expect(conflictOf({ status, errorMessage })).toBe(conflict);
    const call = "POST /consortia/c1/environments";
    for (const advice of [clientAdvice, pulumiAdvice]) {
      const facts = { kind: kindOfStatus(status), call, status, errorMessage };
      const { code, message } = new Http({ ...settings, advice }).error(facts);
      expect([message.startsWith(`${conflictAdvice(conflict as Conflict, advice)} `), code]).toEqual([
        true,
        codes[conflict],
      ]);
      expect(message).toContain(errorMessage);
    }
  });
});

test.each<[number | undefined, string]>([
  [409, "conflict"],
  [409, "no explanation was given"],
  [409, "revision 3 is stale"],
  [409, "the invitation is not pending"],
  [409, "it is no longer in progress"],
  [409, "Everything else is fine"],
  [400, "name exceeds the limit of 64 characters"],
  [400, "name is too long: maximum length exceeded"],
  [422, "the size of the payload exceeds the limit"],
  [400, "membership_id: it belongs to another consortium"],
  [400, "consensus_type is pending"],
  [403, "You are not allowed to do this"],
  [403, "The name is in use by a key that may not do this"],
  [401, "quota"],
  [429, "rate limit exceeded"],
  [429, "Too many requests for this environment"],
  [429, "limit reached"],
  [503, "busy, try again later"],
  [500, "quota service failed"],
  [404, "the quota is gone"],
  [undefined, "limit reached"],
])("HTTP %s: %s is not one of these", (status, errorMessage) => {
  expect(conflictOf({ status, errorMessage })).toBeUndefined();
});

test("a conflict without a known reason keeps the general advice", () => {
  const facts = { kind: "conflict", call: "DELETE /consortia/c1", status: 409, errorMessage: "conflict" } as const;
  expect(new Http(settings).error(facts).message).toBe(
    "Once nothing else changes or uses it, try again. DELETE /consortia/c1: HTTP 409: conflict.",
  );
});
