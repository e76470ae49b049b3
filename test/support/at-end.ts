const ends: (() => unknown)[] = [];

/** Ends it after the test, the last one first. Parts that a `beforeAll` starts end after the first test. */
export const atEnd = (end: () => unknown): void => void ends.push(end);

export async function endAll(): Promise<void> {
  for (const end of ends.splice(0).reverse()) await end();
}
