import { createHash } from 'node:crypto';

/** A document and the index that a collector chose for it. */
export interface StoredDocument {
  readonly index: string;
  readonly source: object;
}

/** `YYYY.MM.DD`, in UTC. */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10).replaceAll('-', '.');

/** A made-up id, always the same for the same name. */
export const uidOf = (name: string): string => createHash('sha256').update(name).digest('hex').slice(0, 32);

/** The texts and numbers in a place such as `ObjectRef.Name`: one, those of a list, or none. */
export function valuesAt(source: object, place: string): readonly (string | number)[] {
  let value: unknown = source;
  for (const member of place.split('.')) value = (value as Record<string, unknown> | null | undefined)?.[member];
  return [value].flat().filter((one) => typeof one === 'string' || typeof one === 'number');
}
