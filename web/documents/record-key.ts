const numbers = new WeakMap<object, number>();
let last = 0;

/** A name for each record that was read: two may be equal in all that they say. */
export function keyOf(record: object): number {
  const number = numbers.get(record) ?? ++last;
  numbers.set(record, number);
  return number;
}
