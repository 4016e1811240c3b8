import { compare } from "./telling";

compare("dynamic", "hosted");
