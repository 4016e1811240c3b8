import { componentsArgument } from "./components";

/*
 * The provider plugin, bundled by tools/plugin.mjs. The engine starts it with its own address, and reads the port from the first
 * line of the output. Started by hand it is what `PULUMI_DEBUG_PROVIDERS=consortium:<port>` attaches to.
 */
const [first, ...rest] = process.argv.slice(2);
if (first === componentsArgument)
  void import("./component-host.js").then(({ serveComponents }) => serveComponents(rest));
else void import("./server.js").then(({ serve }) => serve());
