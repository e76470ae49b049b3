import { badRequest } from './status.ts';

type Labels = Readonly<Record<string, string>>;
type Predicate = (labels: Labels) => boolean;

const REQUIREMENT =
  /^\s*(?:(?<absent>!)\s*(?<absentKey>[\w./-]+)|(?<key>[\w./-]+)\s*(?:(?<operator>==|=|!=|>|<)\s*(?<value>[\w.-]*)|\s(?<set>in|notin)\s*\((?<values>[^()]*)\))?)\s*$/;

/** Compiles a label selector in Kubernetes syntax; the empty one selects everything. */
export function parseLabelSelector(text: string): Predicate {
  if (text.trim() === '') return () => true;
  const requirements = splitOutsideParentheses(text).map(parseRequirement);
  return (labels) => requirements.every((matches) => matches(labels));
}

function splitOutsideParentheses(text: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const character of text) {
    if (character === '(') depth++;
    if (character === ')') depth--;
    if (character === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += character;
  }
  return parts;
}

function parseRequirement(text: string): Predicate {
  const groups = REQUIREMENT.exec(text)?.groups;
  if (!groups) throw badRequest(`unable to parse requirement: ${JSON.stringify(text)}`);
  const { absentKey, key = '', operator, value = '', set, values = '' } = groups;
  if (absentKey !== undefined) return (labels) => labels[absentKey] === undefined;
  if (set !== undefined)
    return inSet(
      key,
      values.split(',').map((word) => word.trim()),
      set === 'in',
    );
  switch (operator) {
    case undefined:
      return (labels) => labels[key] !== undefined;
    case '!=':
      return (labels) => labels[key] !== value;
    case '>':
    case '<':
      return compared(key, operator, value);
    default:
      return (labels) => labels[key] === value;
  }
}

/** `notin` holds for an absent label too. */
function inSet(key: string, values: readonly string[], wanted: boolean): Predicate {
  return (labels) => {
    const label = labels[key];
    return (label !== undefined && values.includes(label)) === wanted;
  };
}

function compared(key: string, operator: '<' | '>', value: string): Predicate {
  if (!/^\d+$/.test(value))
    throw badRequest(`unable to parse requirement: for 'Gt', 'Lt' operators, the value must be an integer`);
  return (labels) => {
    const label = labels[key];
    if (label === undefined || !/^[+-]?\d+$/.test(label)) return false;
    return operator === '>' ? BigInt(label) > BigInt(value) : BigInt(label) < BigInt(value);
  };
}
