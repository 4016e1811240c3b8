/**
 * Tests of a table whose work runs at the same time, because most of it is waiting. `test.concurrent` does not do: once one of its
 * tests has ended, the others may not load a module until the next one begins.
 */
export function testTogether<Row extends [title: string, ...rest: unknown[]]>(
  rows: readonly Row[],
  work: (...row: Row) => Promise<void>,
): void {
  let outcomes: PromiseSettledResult<void>[];
  beforeAll(async () => {
    outcomes = await Promise.allSettled(rows.map((row) => work(...row)));
  });
  test.each(rows.map(([title], index) => [title, index] as const))("%s", (_, index) => {
    const outcome = outcomes[index]!;
    if (outcome.status === "rejected") throw outcome.reason;
  });
}
