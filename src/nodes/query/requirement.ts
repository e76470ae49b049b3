import { parseInteger64 } from './integer64.ts';

type Labels = Readonly<Record<string, string>> | undefined;

/** One condition of a selector. */
export type Requirement = (labels: Labels) => boolean;

/** Own members only: a key like `constructor` is a legal label key. */
const read = (labels: Labels, key: string): string | undefined =>
  labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;

export const exists =
  (key: string): Requirement =>
  (labels) =>
    read(labels, key) !== undefined;

export const isAbsent =
  (key: string): Requirement =>
  (labels) =>
    read(labels, key) === undefined;

export const isIn =
  (key: string, values: ReadonlySet<string>): Requirement =>
  (labels) => {
    const value = read(labels, key);
    return value !== undefined && values.has(value);
  };

/** An absent label is in no set, so it matches. */
export const isNotIn =
  (key: string, values: ReadonlySet<string>): Requirement =>
  (labels) => {
    const value = read(labels, key);
    return value === undefined || !values.has(value);
  };

/** A label that does not read as a 64-bit integer is neither greater nor smaller. */
const compares =
  (key: string, holds: (value: bigint) => boolean): Requirement =>
  (labels) => {
    const value = parseInteger64(read(labels, key) ?? '');
    return value !== undefined && holds(value);
  };

export const isGreater = (key: string, bound: bigint): Requirement => compares(key, (value) => value > bound);
export const isSmaller = (key: string, bound: bigint): Requirement => compares(key, (value) => value < bound);
