import { Node } from "../../../sdk";
import { type FaultRule } from "../../../service/index";
import { ledger, onOneAdapter } from "../../support/stacks";
import { rewriting } from "../../support/virtual-time";

/* A 2xx may be a refusal, and an answer may be about another object: the contents count, not the status. */

/** A 200 with this body. */
const says = (body: unknown, times = Infinity): FaultRule => ({ kind: "status", status: 200, body, times });

const nodes = "/consortia/:consortiumId/environments/:environmentId/nodes";
const withNode = (args: object = {}) =>
  ledger(({ environment, membership }) => void new Node("n", { environment, membership, ...args }));

onOneAdapter((make) => {
  describe("a create", () => {
    test.each([
      [
        "in words",
        { errorMessage: "quota exceeded" },
        /Fix in the program.* HTTP 200: quota exceeded\. \[request-refused:/,
      ],

      [
        "with false",
        false,
        /Look for the reason in the console.* HTTP 200: the service answers false, without a reason\. \[conflict:/,
      ],
    ])("that is refused %s is an error at once, and sent again by the next run", async (_, body, why) => {
      const { stack, service, time, calls, expectChanges } = await make(ledger());
      const fault = service.faults.add({ ...says(body), method: "POST", route: nodes });
      const before = time.wall();
      const run = await stack.up(withNode());
      expect(run.failure).toMatch(why);
      expect(time.wall() - before).toBeLessThan(10_000);
      expect(calls().filter((call) => call === `POST ${nodes}`)).toHaveLength(1);
      fault.remove();
      await expectChanges(withNode(), ["create Node n"]);
    });
  });

  test.each<[string, boolean, object]>([
    ["gone if its id is refused", true, { errorMessage: "the node is no longer accessible" }],
    ["kept if its id shows another object", false, { _id: "another", state: "started" }],
    ["kept if its id shows no object", false, { state: "started" }],
  ])("an unlisted node is %s", async (_, isGone, body) => {
    const { stack, service, time, expectChanges } = await make(withNode());
    const [node] = service.store.nodes.list();
    service.store.nodes.setState(node!.id, "deleted");
    rewriting({
      answer: (text, { method, url }) => {
        if (method !== "GET" || !url.includes("/nodes")) return text;
        const shown = JSON.parse(text) as { _id?: string }[];
        return Array.isArray(shown) ? JSON.stringify(shown.filter(({ _id }) => _id !== node!.id)) : text;
      },
    });
    service.faults.add({ ...says(body), method: "GET", route: new RegExp(`/nodes/${node!.id}$`) });
    time.pass(60_000);
    if (isGone) await expectChanges(withNode(), ["create Node n"]);
    else expect((await stack.refresh()).failure).toMatch(/CONSORTIUM_CONFIRM_DELETED=.*\[not-listed:/);
    expect(stack.of("n").id === node!.id).toBe(!isGone);
  });
});
