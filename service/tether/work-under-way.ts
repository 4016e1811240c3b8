/** What is being done, by key: who wants the same meanwhile gets the same outcome. */
export class WorkUnderWay<T> {
  readonly #works = new Map<string, Promise<T>>();

  has = (key: string) => this.#works.has(key);

  join(key: string, begin: () => Promise<T>): Promise<T> {
    const work = this.#works.get(key) ?? begin().finally(() => this.#works.delete(key));
    this.#works.set(key, work);
    return work;
  }

  async settled(): Promise<void> {
    await Promise.allSettled(this.#works.values());
  }
}
