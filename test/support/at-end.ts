const ends: (() => unknown)[] = [];

/** Calls `end` after the test; the last registered one comes first. For a part that `beforeAll` starts, that is after the first test. */
export const atEnd = (end: () => unknown): void => void ends.push(end);

/** Calls every `end`, even after one that fails: what it leaves behind would be there for other test files of the process. */
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
