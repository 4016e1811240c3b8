/* Of tests that work in real time: the limit ends what hangs, and nothing else. A busy machine takes its time. */
jest.setTimeout(300_000);
