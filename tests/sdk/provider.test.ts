import { output, secret } from "@pulumi/pulumi";
import { Consortium, Provider, type ProviderArgs } from "../../sdk";
import { program, type Registered, valueOf } from "../support/program";

/* An explicit Provider: its inputs are what the provider process gets as its configuration. */

async function inputsOf(args: ProviderArgs, config: Record<string, string> = {}): Promise<Registered> {
  const { registered } = await program({}, config);
  await valueOf(new Provider("acme", args).urn);
  return registered[0]!;
}

test("is one of the package pulumi-nodejs, with full keys and a secret key", async () => {
  const { type, inputs } = await inputsOf({
    apiKey: "k",
    region: "eu",
    baseUrl: "http://x/api/v1",
    maxConcurrency: 3,
    requestTimeout: 9,
  });
  expect(type).toBe("pulumi:providers:pulumi-nodejs");
  expect(inputs).toEqual({
    "consortium:apiKey": { secret: "k" },
    "consortium:region": "eu",
    "consortium:baseUrl": "http://x/api/v1",
    "consortium:maxConcurrency": "3",
    "consortium:requestTimeout": "9",
    "consortium:own": "apiKey,region,baseUrl,maxConcurrency,requestTimeout",
  });
});

test.each([output("k"), secret("k"), Promise.resolve("k")])(
  "a key that is an output stays secret: %#",
  async (apiKey) => {
    expect((await inputsOf({ apiKey })).inputs["consortium:apiKey"]).toEqual({ secret: "k" });
  },
);

test("what it is not given comes from the stack, and is not its own", async () => {
  const { inputs } = await inputsOf(
    { apiKey: "k", region: undefined },
    { "consortium:apiKey": "stack", "consortium:region": "ko", "consortium:maxConcurrency": "4" },
  );
  expect(inputs).toEqual({
    "consortium:apiKey": { secret: "k" },
    "consortium:region": "ko",
    "consortium:maxConcurrency": "4",
    "consortium:own": "apiKey",
  });
});

test("resources of it are registered with it", async () => {
  const { of } = await program();
  const acme = new Provider("acme", { apiKey: "k" });
  const { provider } = await of(new Consortium("c", {}, { provider: acme }));
  expect(provider).toBe(`${await valueOf(acme.urn)}::acme-id`);
});
