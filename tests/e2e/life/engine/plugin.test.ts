import { compare } from "./telling";

compare("plugin", "specification");
