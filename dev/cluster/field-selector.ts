import type { ResourceKind } from './kinds.ts';
import { type KubeObject, memberAt } from './kube-object.ts';
import { badRequest } from './status.ts';

type Predicate = (object: KubeObject) => boolean;

/** Compiles a field selector (`a=b,c!=d`). Throws for a field that the kind does not support. */
export function parseFieldSelector(text: string, kind: ResourceKind): Predicate {
  const terms = text.split(',').filter((term) => term.trim() !== '');
  const requirements = terms.map((term) => parseTerm(term, kind));
  return (object) => requirements.every((matches) => matches(object));
}

function parseTerm(term: string, kind: ResourceKind): Predicate {
  const [, field, operator, value] = /^\s*([\w.]+)\s*(==|!=|=)(.*)$/.exec(term) ?? [];
  if (field === undefined || value === undefined)
    throw badRequest(`invalid selector: '${term}'; can't understand '${term}'`);
  const whenAbsent = absentValue(field, kind);
  const path = (kind.fieldPaths[field] ?? field).split('.');
  const equal = operator !== '!=';
  return (object) => (String(memberAt(object, path) ?? whenAbsent) === value) === equal;
}

function absentValue(field: string, kind: ResourceKind): string {
  if (field === 'metadata.name' || (field === 'metadata.namespace' && kind.namespaced)) return '';
  const known = kind.fields[field];
  if (known === undefined) throw badRequest(`field label not supported: ${field}`);
  return known;
}

/** The one name that a field selector matches; empty if it matches several or cannot be parsed. */
export function selectedName(text: string): string {
  const terms = text.split(',').filter((term) => term !== '');
  if (!terms.every((term) => term.includes('='))) return '';
  const [name = ''] = terms.flatMap((term) => /^\s*metadata\.name==?([^=!]*)$/.exec(term)?.slice(1) ?? []);
  return name;
}
