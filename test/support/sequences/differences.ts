import { isDeepStrictEqual } from 'node:util';
import type { Course, Json, Outcome, Sequence, Step } from './steps.ts';

interface Deliberate {
  readonly what: string;
  readonly why: string;
  is(pair: { readonly simulated: Outcome; readonly real: Outcome; readonly step: Step }): boolean;
}

/** The deliberate differences of the simulated cluster. The steps of a sequence after one of them are not compared. */
export const DELIBERATE: readonly Deliberate[] = [
  {
    what: 'refuses with 501 what it does not do',
    why: 'nothing of ours asks for it; the sentence says so to whoever does',
    is: ({ simulated }) =>
      simulated.status === 501 && simulated.body.message.startsWith('the simulated cluster does not '),
  },
  {
    what: 'takes contents that break the rules of their kind',
    why: 'the rules are those of all kinds of Kubernetes and of the definitions; what is taken here is tried on a real server by the test of fixtures',
    is: ({ simulated, real }) =>
      // The simulated cluster skips the check of contents, so the next check decides: existence and version of the object.
      [200, 201, 409].includes(simulated.status) && [400, 422].includes(real.status) && isAboutContents(real.body),
  },
];

const isAboutContents = ({ details, message }: Json): boolean =>
  details?.causes?.every(({ field }: Json) => /^(<nil>$|(spec|data|rules|roleRef|subjects|status)\b)/.test(field)) ??
  /Go struct field \w+\.(spec|data|rules)\b/.test(message);

/** The result of the comparison. */
export interface Comparison {
  /** The number of equal outcomes and events. */
  readonly alike: number;
  /** How often each deliberate difference occurred. */
  readonly deliberate: ReadonlyMap<string, number>;
  /** A text for each sequence that differed unexpectedly. */
  readonly differences: readonly string[];
}

export function compare(
  sequences: readonly Sequence[],
  simulated: readonly Course[],
  real: readonly Course[],
): Comparison {
  const found = sequences.map((sequence, at) => compareOne(sequence, simulated[at] as Course, real[at] as Course));
  const deliberate = found.flatMap((one) => one.deliberate ?? []);
  return {
    alike: found.reduce((sum, one) => sum + one.alike, 0),
    deliberate: new Map(DELIBERATE.map(({ what }) => [what, deliberate.filter((one) => one === what).length] as const)),
    differences: found.flatMap((one) => one.difference ?? []),
  };
}

interface Found {
  readonly alike: number;
  readonly deliberate?: string;
  readonly difference?: string;
}

function compareOne({ id, steps, watches }: Sequence, simulated: Course, real: Course): Found {
  for (const [at, step] of steps.entries()) {
    const pair = { simulated: simulated.outcomes[at] as Outcome, real: real.outcomes[at] as Outcome, step };
    if (isDeepStrictEqual(pair.simulated, pair.real)) continue;
    const deliberate = DELIBERATE.find((one) => one.is(pair));
    if (deliberate) return { alike: at, deliberate: deliberate.what };
    const asked = `${id}, step ${at}: ${step.method} ${step.path} ${JSON.stringify([step.query, step.headers, step.body])}`;
    return { alike: at, difference: [asked, ...differing(pair.simulated, pair.real)].join('\n') };
  }
  const alike = steps.length + simulated.events.flat().length;
  if (isDeepStrictEqual(simulated.events, real.events)) return { alike };
  const watched = `${id}: events of ${JSON.stringify(watches.map(({ path, query, before }) => [path, query, before]))}`;
  return { alike: steps.length, difference: [watched, ...differing(simulated.events, real.events)].join('\n') };
}

/** The paths of the members that differ. */
function differing(simulated: Json, real: Json, path = ''): string[] {
  if (isDeepStrictEqual(simulated, real)) return [];
  const areBoth = [simulated, real].every((value) => typeof value === 'object' && value !== null);
  if (!areBoth) return [`  ${path}: simulated ${JSON.stringify(simulated)}, real ${JSON.stringify(real)}`];
  const names = new Set([...Object.keys(simulated), ...Object.keys(real)]);
  return [...names].flatMap((name) => differing(simulated[name], real[name], `${path}.${name}`));
}
