// The real CLI takes seconds for each step, and more on a busy machine.
jest.setTimeout(240_000);
