import type { StatusCause } from '../../status-error.ts';
import { quoted } from './quoted.ts';
import { invalid } from './read-parameters.ts';

type NameCondition = (name: string) => boolean;

/** `metadata.name` is what clients of Kubernetes watch one object by; the API server knows it of every kind. */
const TERM = /^metadata\.name(==|!=|=)([a-z0-9.-]{1,253})$/;
const MOST_TERMS = 64;

/** Reads a field selector over the name of a node: all of its terms have to hold. */
export function parseFieldSelector(text: string, name: string): NameCondition | StatusCause {
  const terms = text.split(',');
  if (terms.length > MOST_TERMS) return invalid(name, `more than ${MOST_TERMS} terms`, 'FieldValueTooMany');
  const conditions: NameCondition[] = [];
  for (const term of terms) {
    const [, operator, wanted] = TERM.exec(term) ?? [];
    if (wanted === undefined) return invalid(name, `${quoted(term)} is not metadata.name=… or metadata.name!=…`);
    conditions.push((node) => (node === wanted) === (operator !== '!='));
  }
  return (node) => conditions.every((holds) => holds(node));
}
