/* Of tests that work in real time: the limit ends what hangs, and nothing else. A busy machine takes its time, and CI tells it to. */
jest.setTimeout(300_000 * Number(process.env.TEST_PATIENCE ?? 1));
