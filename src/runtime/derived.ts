/**
 * Remembers what follows from an object, for as long as the object is in use. `derive` must depend on nothing else, and
 * the object must never change.
 */
export function derived<Key extends object, Value>(derive: (key: Key) => Value): (key: Key) => Value {
  const known = new WeakMap<Key, { readonly value: Value }>();
  return (key) => {
    const before = known.get(key);
    if (before) return before.value;
    const value = derive(key);
    known.set(key, { value });
    return value;
  };
}
