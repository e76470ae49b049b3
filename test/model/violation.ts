/** An invariant that does not hold; the message begins with its id. */
class Violation extends Error {
  override readonly name = 'Violation';
}

export function hold(condition: boolean, invariant: string, detail: () => unknown): asserts condition {
  if (!condition) throw new Violation(`${invariant}: ${JSON.stringify(detail())}`);
}
