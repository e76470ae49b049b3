import type { StatusCause } from '../../status-error.ts';
import { allOf, type Condition } from './filter.ts';
import { quoted } from './quoted.ts';
import { invalid } from './read-parameters.ts';

/** `metadata.name` is what clients of Kubernetes watch one object by; the API server knows it of every kind. */
const TERM = /^metadata\.name(==|!=|=)([a-z0-9.-]{1,253})$/;
const MOST_TERMS = 64;

/** Reads a field selector over the name of an object: all of its terms have to hold. */
export function parseFieldSelector(text: string, name: string): Condition | StatusCause {
  const terms = text.split(',');
  if (terms.length > MOST_TERMS) return invalid(name, `more than ${MOST_TERMS} terms`, 'FieldValueTooMany');
  const conditions: Condition[] = [];
  for (const term of terms) {
    const [, operator, wanted] = TERM.exec(term) ?? [];
    if (wanted === undefined) return invalid(name, `${quoted(term)} is not metadata.name=… or metadata.name!=…`);
    conditions.push((object) => (object.name === wanted) === (operator !== '!='));
  }
  return allOf(conditions);
}
