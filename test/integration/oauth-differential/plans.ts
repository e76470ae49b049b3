import { seededRandom } from '../../../dev/cluster/seeded-random.ts';
import type { Random } from '../../../src/runtime/random.ts';
import { bearerVariations } from './bearer-variations.ts';
import { clientVariations } from './client-variations.ts';
import { formVariations } from './form-variations.ts';
import { grantVariations } from './grant-variations.ts';
import {
  type Flow,
  FORM_FLOWS,
  isApplicable,
  PHASES,
  type Plan,
  QUESTION_FLOWS,
  type Style,
  TOKEN_FLOWS,
  type Variation,
} from './plan.ts';
import { spellingVariations } from './spelling-variations.ts';
import { tokenVariations } from './token-variations.ts';

const FLOWS: readonly Flow[] = [...TOKEN_FLOWS, ...QUESTION_FLOWS, 'userinfo'];
const STYLES: readonly Style[] = ['client_secret_post', 'client_secret_basic'];

const variations = [
  ...formVariations,
  ...clientVariations,
  ...grantVariations,
  ...tokenVariations,
  ...bearerVariations,
  ...spellingVariations,
];

/** Every variation alone, in each flow that it is for, in turns by one style and the other; and each as it is. */
export function plainPlans(seed: number): Plan[] {
  const random = seededRandom(seed);
  const bare = FLOWS.flatMap((flow) => STYLES.map((style) => ({ flow, style, variations: [] })));
  const single = variations.flatMap((variation, index) =>
    flowsOf(variation, index).map((flow) => {
      const style = variation.styles?.[0] ?? (STYLES[index % STYLES.length] as Style);
      return { flow, style, variations: [variation] };
    }),
  );
  return [...bare, ...single].map((plan) => ({ ...plan, seed: word(random) }));
}

/** What may be said in any request without harm is tried in one flow each: a success costs Gatehouse a password hash. */
function flowsOf({ phase, flows, styles }: Variation, index: number): readonly Flow[] {
  const isHarmless = phase === 'spelling' && !flows && !styles;
  return isHarmless ? [FORM_FLOWS[index % FORM_FLOWS.length] as Flow] : (flows ?? FORM_FLOWS);
}

/** Two to four variations at once, by chance, each of another phase. */
export function mixedPlans(seed: number, flows: readonly Flow[], count: number): Plan[] {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => {
    const flow = pick(random, flows);
    const style = pick(random, STYLES);
    const applicable = variations.filter((one) => !one.alone && isApplicable(one, flow, style));
    const drawn = Array.from({ length: 2 + Math.floor(random.fraction() * 3) }, () => pick(random, applicable));
    return { flow, style, variations: oneOfEachPhase(drawn), seed: word(random) };
  });
}

/** In the order of the phases; of several spellings one is enough. */
const oneOfEachPhase = (drawn: readonly Variation[]): Variation[] =>
  PHASES.flatMap((phase) => drawn.filter((one) => one.phase === phase).slice(0, 1));

const word = (random: Random): number => Math.floor(random.fraction() * 2 ** 32);

function pick<T>(random: Random, list: readonly T[]): T {
  return list[Math.floor(random.fraction() * list.length)] as T;
}

export const titleOf = ({ flow, style, variations: chosen }: Plan): string =>
  [`${flow} by ${style}`, ...chosen.map(({ name }) => name)].join(' + ');
