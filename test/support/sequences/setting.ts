import type { Chance } from '../oracles/chance.ts';
import type { SequenceKind } from './kinds.ts';
import type { Caller, Json } from './steps.ts';

/** What the steps of one sequence are made from. */
export interface Setting {
  readonly chance: Chance;
  readonly id: string;
  readonly namespace: string;
  /** Few, so that the steps meet each other's objects. */
  readonly kinds: readonly SequenceKind[];
  readonly caller: Caller | undefined;
}

export const NAMES = ['a', 'b', 'c'];
export const nameOf = (id: string, name: string): string => `${id}-${name}`;

/** All that is cluster-wide and of one sequence has this label, so that its lists and watches find nothing else. */
export const labelsOf = (id: string): Readonly<Record<string, string>> => ({ sequence: id });

/** A new object of this kind, with everything that it must have. */
export function newObject({ chance, id }: Setting, kind: SequenceKind, name: string): Json {
  const { happens } = chance;
  const labels = { ...labelsOf(id), ...(happens(0.4) && { tier: chance.oneOf(['one', 'two']) }) };
  const finalizers = happens(0.12) && kind.plural !== 'namespaces' ? { finalizers: ['example.test/keep'] } : {};
  return {
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    metadata: { name, labels, ...(happens(0.2) && { annotations: { note: 'ä' } }), ...finalizers },
    ...kind.content(chance, id),
  };
}

export const labelSelector = ({ oneOf }: Chance, id: string): string =>
  `sequence=${id}${oneOf(['', '', ',tier', ',!tier', ',tier=one', ',tier in (one,two)', ',tier notin (one)'])}`;

export function fieldSelector({ oneOf, happens }: Chance, id: string, kind: SequenceKind): string {
  if (happens(0.5)) return `metadata.name${oneOf(['=', '==', '!='])}${nameOf(id, oneOf(NAMES))}`;
  const field = oneOf(kind.fields ?? ['metadata.name']);
  return `${field}${oneOf(['=', '!='])}${oneOf(['', 'true', 'node-1', 'Running', 'Active', 'Opaque'])}`;
}
