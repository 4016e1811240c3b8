import { render } from "preact";
import { mapCss } from "pulumi-consortium/internal/page";
import { App } from "./app";
import { live } from "./live";
import "./style.css";

const mapStyle = new CSSStyleSheet();
mapStyle.replaceSync(mapCss);
document.adoptedStyleSheets = [mapStyle];
live.start();
render(<App />, document.getElementById("app")!);
