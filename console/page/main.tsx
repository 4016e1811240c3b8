import { render } from "preact";
import { App } from "./app";
import { live } from "./live";
import "./style.css";

live.start();
render(<App />, document.getElementById("app")!);
