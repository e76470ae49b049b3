const ends: (() => unknown)[] = [];

/** Ends it after the test, the last one first. Parts that a `beforeAll` starts end after the first test. */
export const atEnd = (end: () => unknown): void => void ends.push(end);

/** Ends everything, also what comes after an end that fails: files that share the process would find it otherwise. */
export async function endAll(): Promise<void> {
  const failures: unknown[] = [];
  for (const end of ends.splice(0).reverse()) {
    try {
      await end();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures.length === 1 ? failures[0] : new AggregateError(failures);
}
