import { create } from "xmlbuilder";
import { printable } from "../../provider/api/printable";
import { type NetworkMap } from "./graph";
import { mapCss } from "./style";
import { svgOf } from "./svg";

/** No character of it means something to HTML. */
const pageCss = `
:root { color-scheme: light dark; }
body { margin: 1rem; font-family: system-ui, sans-serif; }
h1 { font-size: 1.2rem; }
main { overflow: auto; }
${mapCss}`;

/** A page with the map, in one file, that loads nothing and runs nothing. */
export function htmlOf(map: NetworkMap): string {
  const title = printable(`Map of ${map.title}`);
  const html = create("html", { headless: true, invalidCharReplacement: "?" }).att("lang", "en");
  const head = html.element("head");
  head.element("meta", { charset: "utf-8" });
  const policy = "default-src 'none'; style-src 'unsafe-inline'";
  head.element("meta", { "http-equiv": "Content-Security-Policy", content: policy });
  head.element("meta", { name: "viewport", content: "width=device-width, initial-scale=1" });
  head.element("title", {}, title);
  head.element("style", {}, pageCss);
  const body = html.element("body");
  body.element("h1", {}, title);
  body.element("main").raw(svgOf(map, { style: false }));
  return `<!doctype html>\n${html.end()}\n`;
}
