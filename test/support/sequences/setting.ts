import type { Chance } from '../oracles/chance.ts';
import type { SequenceKind } from './kinds.ts';
import type { Caller, Json } from './steps.ts';

/** The random choices, names and kinds from which the steps of a sequence are made. */
export interface Setting {
  readonly chance: Chance;
  readonly id: string;
  readonly namespace: string;
  /** Few kinds, so that steps often use the objects of other steps. */
  readonly kinds: readonly SequenceKind[];
  readonly caller: Caller | undefined;
}

export const NAMES = ['a', 'b', 'c'];
export const nameOf = (id: string, name: string): string => `${id}-${name}`;

/** The label of all cluster-scoped objects of one sequence, so that its lists and watches find no others. */
export const labelsOf = (id: string): Readonly<Record<string, string>> => ({ sequence: id });

/** A new object of this kind, with all required members. */
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
