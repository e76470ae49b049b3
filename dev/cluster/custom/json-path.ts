import { isRecord } from '../kube-object.ts';

type Step = (values: readonly unknown[]) => unknown[];

const member =
  (name: string): Step =>
  (values) =>
    values.flatMap((value) => (isRecord(value) && name in value ? [value[name]] : []));

const element =
  (index: number): Step =>
  (values) =>
    values.flatMap((value) => {
      const found = Array.isArray(value) ? value.at(index) : undefined;
      return found === undefined ? [] : [found];
    });

const every: Step = (values) =>
  values.flatMap((value) => (Array.isArray(value) ? value : isRecord(value) ? Object.values(value) : []));

const where =
  (path: string, wanted: string): Step =>
  (values) => {
    const read = jsonPath(path);
    return every(values).filter((value) => String(read(value)[0]) === wanted);
  };

/** `.name`, `['name']`, `[0]`, `[*]` or `[?(@.name=="value")]`. A dot in a name is escaped. */
const STEP =
  /^(?:\.((?:\\.|[^.[\\])+)|\['([^']*)'\]|\[(-?\d+)\]|(\[\*\]|\.\*)|\[\?\(@(\.[^=\s]+)\s*==\s*["']([^"']*)["']\)\])/;

/**
 * Compiles a path of the simple kind that `additionalPrinterColumns` take. The function returns the values that it finds. Throws a
 * `TypeError` for a path that is not understood.
 */
export function jsonPath(text: string): (object: unknown) => readonly unknown[] {
  const steps: Step[] = [];
  for (let rest = text; rest !== ''; ) {
    const found = STEP.exec(rest);
    if (!found) throw new TypeError(`the simulated cluster does not understand the path ${text}`);
    steps.push(stepOf(found));
    rest = rest.slice(found[0].length);
  }
  return (object) => steps.reduce<readonly unknown[]>((values, step) => step(values), [object]);
}

function stepOf([, dotted, quoted, index, all, path, wanted]: RegExpExecArray): Step {
  if (all !== undefined || dotted === '*') return every;
  if (index !== undefined) return element(Number(index));
  if (path !== undefined) return where(path, wanted ?? '');
  return member(quoted ?? (dotted ?? '').replaceAll('\\', ''));
}
