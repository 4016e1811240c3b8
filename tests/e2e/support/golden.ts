/** A clock that goes on an hour after the data was written, whenever that was. */
export function clockAfter(data: string): () => number {
  const last = Math.max(...[...data.matchAll(/"changedAt":(\d+)/g)].map(([, at]) => Number(at)));
  const start = Date.now();
  return () => last + 3_600_000 + Date.now() - start;
}
