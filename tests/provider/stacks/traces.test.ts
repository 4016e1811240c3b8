import { sendSpans } from "../../../provider/api/trace";
import * as sdk from "../../../sdk";
import { Protocol } from "../../support/protocol";
import { receiver, type Span } from "../../support/receiver";
import { setEnvironment, startAnother } from "../../support/service";
import { ledger, onBothAdapters } from "../../support/stacks";
import { until } from "../../support/until";

/* Spans for OpenTelemetry: verbs, with their waits and calls below them. */

const path = (spans: readonly Span[], { name, parentSpanId }: Span): string => {
  const parent = spans.find(({ spanId }) => spanId === parentSpanId);
  return parent ? `${path(spans, parent)} > ${name}` : name;
};
const mockLoading = jest.fn();
jest.mock("../../../provider/api/otel", () => {
  mockLoading();
  return jest.requireActual<object>("../../../provider/api/otel");
});
const node = ledger(({ environment, membership }) => void new sdk.Node("acme-1", { environment, membership }));
const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const ofPulumi = { traceId: "0af7651916cd43dd8448eb211c80319c", parentSpanId: "b7ad6b7169203331" };
const nodes = "/consortia/{id}/environments/{id}/nodes";

// First, as long as nothing has loaded it.
onBothAdapters((make) => {
  test.each([
    ["OTEL_SDK_DISABLED", "true"],
    ["OTEL_TRACES_EXPORTER", "none"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", undefined],
  ])("with %s=%s there are none, and nothing is loaded", async (name, value) => {
    const { stack } = await make();
    const { requests } = await receiver();
    setEnvironment({ [name]: value });
    expect((await stack.up(ledger())).errors).toEqual([]);
    expect(sendSpans()).toBeUndefined();
    expect([requests, mockLoading.mock.calls]).toEqual([[], []]);
  });
});

onBothAdapters((make) => {
  test("a verb is a span, and its waits and calls are below it", async () => {
    const { stack } = await make();
    const { spans } = await receiver();
    expect((await stack.preview(node)).errors).toEqual([]);
    expect((await stack.up(node)).errors).toEqual([]);
    expect((await stack.up(node, { refresh: true })).errors).toEqual([]);
    expect((await stack.destroy()).errors).toEqual([]);
    await sendSpans();
    const all = spans();
    const paths = new Set(all.map((span) => path(all, span)));
    expect(paths).toContain(`create Node > POST ${nodes}`);
    expect(paths).toContain(`create Node > wait > GET ${nodes}`);
    expect(paths).toContain("check key > GET /consortia");
    expect([...paths].join("\n")).toMatch(/^read Node/m);
    expect([...paths].join("\n")).toMatch(/^delete Consortium > (wait > )?DELETE \/consortia\/{id}$/m);
    const [create] = all.filter(({ name }) => name === "create Node");
    expect(create!.attributes).toEqual({
      "consortium.verb": "create",
      "consortium.type": "Node",
      "consortium.name": "acme-1",
    });
    const [call] = all.filter(({ name }) => name === `POST ${nodes}`);
    expect(call).toMatchObject({
      kind: 3,
      attributes: { "http.request.method": "POST", "http.response.status_code": 201, "server.address": "127.0.0.1" },
    });
    expect(call!.attributes).not.toHaveProperty(["http.request.resend_count"]);
    const waits = all.filter(({ name, traceId }) => name === "wait" && traceId === create!.traceId);
    expect(new Set(waits.map(({ attributes }) => attributes["consortium.waits_for"]))).toEqual(
      new Set(['node "acme-1"']),
    );
    expect(Math.max(...waits.map(({ attributes }) => Number(attributes["consortium.looks"])))).toBeGreaterThan(1);
    expect(all.filter(({ failure }) => failure !== undefined)).toEqual([]);
  });

  test("each attempt is a span, and one that fails says why, without a secret", async () => {
    const { stack, service } = await make(ledger());
    const { spans, text } = await receiver();
    const errorMessage = `no room for ${service.apiKey}`;
    service.faults.add({ kind: "status", status: 429, errorMessage, method: "POST", route: /nodes$/, times: 1 });
    service.faults.add({ kind: "status", status: 400, errorMessage, method: "POST", route: /nodes$/, times: 1 });
    const { errors } = await stack.up(node);
    expect(errors).toHaveLength(1);
    await sendSpans();
    const attempts = spans().filter(({ name }) => name === `POST ${nodes}`);
    expect(attempts.map(({ failure, attributes }) => [failure, attributes["error.type"]])).toEqual([
      ["no room for [secret]", "429"],
      ["no room for [secret]", "400"],
    ]);
    expect(attempts.map(({ attributes }) => attributes["http.request.resend_count"])).toEqual([undefined, 1]);
    expect(new Set(attempts.map(({ parentSpanId }) => parentSpanId)).size).toBe(1);
    expect(spans().find(({ name }) => name === "create Node")!.failure).toMatch(/HTTP 400: no room for \[secret]/);
    expect(text()).not.toContain(service.apiKey);
  });

  test("a receiver that hangs has three seconds at the end, because the engine kills after five", async () => {
    const { stack } = await make();
    const { requests } = await receiver(() => undefined);
    expect((await stack.up(ledger())).errors).toEqual([]);
    const late = jest.spyOn(globalThis, "setTimeout").mockImplementationOnce((over) => setImmediate(over) as never);
    await sendSpans();
    expect(late.mock.calls[0]![1]).toBe(3_000);
    await until(() => requests.length === 1);
  });

  test("verbs are below the span in the environment", async () => {
    const { stack } = await make();
    const { spans } = await receiver();
    setEnvironment({ TRACEPARENT: traceparent });
    expect((await stack.up(ledger())).errors).toEqual([]);
    await sendSpans();
    const roots = spans().filter(({ name }) => /^(check|create) /.test(name));
    expect(roots).toHaveLength(3);
    for (const one of roots) expect(one).toMatchObject(ofPulumi);
  });

  test.each(["nobody", traceparent.replace("b7ad6b7169203331", "0000000000000000")])(
    "but not if it names none: %s",
    async (variable) => {
      const { stack } = await make();
      const { spans } = await receiver();
      setEnvironment({ TRACEPARENT: variable });
      expect((await stack.up(ledger())).errors).toEqual([]);
      await sendSpans();
      const create = spans().find(({ name }) => name === "create Consortium")!;
      expect(create.parentSpanId ?? "").toBe("");
      expect(create.traceId).not.toBe(ofPulumi.traceId);
    },
  );

  test.each<[string, Record<string, string>, RegExp]>([
    ["gRPC", { OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }, /over HTTP, not gRPC.*4318/],
    [
      "no address",
      { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "collector:4318" },
      /TRACES_ENDPOINT is set.*begins with http/,
    ],
  ])("%s is reported once, and the run continues", async (_, variables, warning) => {
    const { stack } = await make();
    const { requests } = await receiver();
    setEnvironment(variables);
    const { errors, lines } = await stack.up(ledger());
    expect(errors).toEqual([]);
    expect(lines.filter((line) => /spans/.test(line))).toEqual([expect.stringMatching(warning)]);
    await sendSpans();
    expect(requests).toEqual([]);
  });
});

test("the plugin's verbs are below the span of Pulumi's call", async () => {
  await startAnother();
  const { spans } = await receiver();
  const plugin = await Protocol.start();
  plugin.metadata.set("traceparent", traceparent);
  await plugin.configure();
  await plugin.create("Consortium", { name: "acme" });
  await plugin.invoke("getConsortia", {});
  await plugin.list("Consortium");
  plugin.metadata.remove("traceparent");
  await plugin.invoke("getConsortia", {});
  plugin.close();
  await sendSpans();
  const all = spans().filter(({ kind }) => kind === 1);
  const roots = all
    .filter(({ name }) => name !== "wait")
    .map(({ name, traceId, parentSpanId }) => [name, traceId, parentSpanId]);
  const { traceId, parentSpanId } = ofPulumi;
  expect(roots).toEqual([
    ...["create Consortium", "invoke getConsortia", "list Consortium"].map((name) => [name, traceId, parentSpanId]),
    ["invoke getConsortia", expect.not.stringMatching(traceId), undefined],
  ]);
});
