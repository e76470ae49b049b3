import type { Variation } from './plan.ts';

const escaped = (byte: string, upper: boolean): string => {
  const hex = byte.charCodeAt(0).toString(16).padStart(2, '0');
  return `%${upper ? hex.toUpperCase() : hex}`;
};

/** Another spelling of the same request, and additions that nobody has to understand: both servers answer as without. */
export const spellingVariations: readonly Variation[] = [
  {
    name: 'parameters in another order',
    phase: 'spelling',
    apply: (draft, { random }) =>
      draft.rewrite((pairs) =>
        pairs
          .map((pair) => ({ pair, rank: random.fraction() }))
          .sort((one, other) => one.rank - other.rank)
          .map(({ pair }) => pair),
      ),
  },
  {
    name: 'escapes where none are needed',
    phase: 'spelling',
    apply: (draft, { random }) =>
      draft.rewrite((pairs) =>
        pairs.map((pair) =>
          pair.replaceAll(/%..|[A-Za-z0-9_]/g, (part) =>
            part.length === 1 && random.fraction() < 0.3 ? escaped(part, random.fraction() < 0.5) : part,
          ),
        ),
      ),
  },
  {
    name: 'escapes in lower case',
    phase: 'spelling',
    apply: (draft) =>
      draft.rewrite((pairs) => pairs.map((pair) => pair.replaceAll(/%../g, (part) => part.toLowerCase()))),
  },
  {
    name: '%20 for a space',
    phase: 'spelling',
    apply: (draft) => draft.rewrite((pairs) => pairs.map((pair) => pair.replaceAll('+', '%20'))),
  },
  { name: 'empty pairs', phase: 'spelling', apply: (draft) => draft.rewrite((pairs) => ['', ...pairs, '', '']) },
  { name: 'a parameter without =', phase: 'spelling', apply: (draft) => draft.addRaw('flag') },
  { name: 'a parameter without name', phase: 'spelling', apply: (draft) => draft.addRaw('=value') },
  {
    name: 'a chunked body',
    phase: 'spelling',
    apply: (draft) => {
      draft.chunked = true;
    },
  },
  ...['encrypt', 'audience', 'nonce', 'redirect_uri', 'code', '__proto__', 'constructor', 'access_token', 'état'].map(
    (name): Variation => ({
      name: `the parameter ${name}`,
      phase: 'spelling',
      apply: (draft) => draft.add(name, 'made up'),
    }),
  ),
  { name: 'an empty scope', phase: 'spelling', apply: (draft) => draft.add('scope', '') },
  { name: 'a cookie', phase: 'spelling', apply: (draft) => draft.header('Cookie', 'token=made-up') },
];
