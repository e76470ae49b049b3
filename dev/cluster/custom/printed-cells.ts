import type { PrinterColumn } from '../kinds.ts';
import { isRecord } from '../kube-object.ts';
import { ageText } from '../tables/age.ts';
import { jsonPath } from './json-path.ts';

/** A cell of a Table. */
type Printed = string | number | boolean | null;

/** Compiles a column of a definition; the function prints the first value that its path finds, as `tableconvertor` of Kubernetes does. */
export function printerOf({ type, jsonPath: path }: PrinterColumn): (object: unknown, now: number) => Printed {
  const read = jsonPath(path);
  return (object, now) => {
    const [value] = read(object);
    return value === undefined || value === null ? null : printed(type, value, now);
  };
}

function printed(type: string, value: unknown, now: number): Printed {
  switch (type) {
    case 'string':
      return typeof value === 'object' ? JSON.stringify(sorted(value)) : String(value);
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return typeof value === 'string' ? ageSince(value, now) : null;
    default:
      return null;
  }
}

function ageSince(text: string, now: number): string {
  const at = Date.parse(text);
  return Number.isNaN(at) ? '<invalid>' : ageText(now - at);
}

/** Go writes the members of a map by name. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, sorted(value[name])]),
  );
}
