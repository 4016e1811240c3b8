const endings: (() => unknown)[] = [];

/** Does something after the last test of the file. What was begun last ends first. */
export const atTheEnd = (end: () => unknown): void => void endings.push(end);

afterAll(async () => {
  for (let end = endings.pop(); end; end = endings.pop()) await end();
});
