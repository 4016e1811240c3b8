import { isElsewhere, isKnown, type Ownership, withKey } from "../../../provider/core/ownership";
import { resolveProviderSettings } from "../../../provider/pulumi/settings";

/** The organization in a state. */

const settings = (apiKey: string, baseUrl = "https://a.example/api/v1") =>
  resolveProviderSettings({}, { CONSORTIUM_API_KEY: apiKey, CONSORTIUM_BASE_URL: baseUrl });
const none: Ownership = { keys: [] };
const [here, other] = [settings("k1"), settings("k2")];
const elsewhere = settings("k1", "https://b.example/api/v1");

test("a key is known once it is recorded, at its address", () => {
  const origin = withKey(none, here);
  const known = [here, settings("k1"), other, elsewhere].map((one) => isKnown(origin, one));
  expect(known).toEqual([true, true, false, false]);
  expect(isKnown(none, here)).toBe(false);
  expect(JSON.stringify(origin)).not.toContain("k1");
  expect(origin.keys).toEqual([expect.stringMatching(/^[0-9a-f]{32}:[0-9a-f]{32}:[0-9a-f]{8}$/)]);
});

test("several keys are known, a known one is not recorded again, and the newest eight stay", () => {
  const both = withKey(withKey(none, here), other);
  expect([here, other, settings("k3")].map((one) => isKnown(both, one))).toEqual([true, true, false]);
  expect(withKey(both, here)).toBe(both);
  const nine = Array.from({ length: 9 }, (_, index) => settings(`key-${index}`));
  const origin = nine.reduce((before, one) => withKey(before, one), none);
  expect(nine.map((one) => isKnown(origin, one))).toEqual([false, ...Array<boolean>(8).fill(true)]);
});

test("all keys were proved at other addresses, or one was here, or a state does not tell", () => {
  const there = withKey(none, elsewhere);
  expect(isElsewhere(there, here)).toBe(true);
  expect(isElsewhere(withKey(there, other), here)).toBe(false);
  expect(isElsewhere(withKey(none, other), here)).toBe(false);
  expect(isElsewhere(none, here)).toBe(false);
  const untold = there.keys.map((key) => key.split(":").slice(0, 2).join(":"));
  expect(isElsewhere({ keys: untold }, here)).toBe(false);
  expect(isElsewhere({ keys: [...there.keys, ...untold] }, here)).toBe(false);
});
