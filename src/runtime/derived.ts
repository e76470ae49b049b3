/**
 * Caches what `derive` returns for an object, for as long as the object is in use. The object must never change, and the value must
 * depend on nothing else.
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
