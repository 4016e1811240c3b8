import { patiently } from "./patience";

/* Of tests that work in real time: the limit ends what hangs, and nothing else. */
jest.setTimeout(patiently(300_000));
