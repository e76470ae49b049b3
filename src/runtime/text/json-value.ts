/** The value if it is an object, else an object without members. */
export const asObject = (value: unknown): Readonly<Record<string, unknown>> => (isObject(value) ? value : NO_MEMBERS);

/** The value if it is an array, else an empty array. */
export const asArray = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : NO_ITEMS);

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const NO_MEMBERS: Readonly<Record<string, unknown>> = Object.freeze({});
const NO_ITEMS: readonly unknown[] = Object.freeze([]);
