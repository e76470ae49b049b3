import type { Random } from '../../../src/random.ts';
import { Draft } from './draft.ts';
import { ada, basic, consoleClient } from './people.ts';
import type { Sessions } from './sessions.ts';

/** What a request is for, before anything about it is varied. */
export type Flow = 'password' | 'refresh_token';

/** How the client proves itself, in the words of the registry. */
export type Style = 'client_secret_post' | 'client_secret_basic';

/** In the order in which Gatehouse checks: the first of several faults is the one it names. What is no fault comes first. */
export const PHASES = [
  'spelling',
  'method',
  'accept',
  'content type',
  'query',
  'size',
  'count',
  'encoding',
  'repeats',
  'client',
  'grant type',
  'permission',
  'scope',
  'grant',
] as const;

type Phase = (typeof PHASES)[number];

export interface Setting {
  readonly flow: Flow;
  readonly style: Style;
  readonly sessions: Sessions;
  readonly random: Random;
}

/** One thing that is different about a request. */
export interface Variation {
  /** Unique; what the list of differences names. */
  readonly name: string;
  readonly phase: Phase;
  /** Default: all. */
  readonly flows?: readonly Flow[];
  readonly styles?: readonly Style[];
  /** Never together with others: what it comes to depends on them. */
  readonly alone?: boolean;
  apply(draft: Draft, setting: Setting): void | Promise<void>;
}

export interface Plan {
  readonly flow: Flow;
  readonly style: Style;
  readonly variations: readonly Variation[];
  /** The same number gives the same request at both servers. */
  readonly seed: number;
}

/** What a plan comes to at one server, with that server's tokens in it. */
export async function drafted(plan: Plan, setting: Setting): Promise<Draft> {
  const draft = new Draft('/oauth/token');
  draft.add('grant_type', plan.flow);
  if (plan.flow === 'password') {
    draft.add('username', ada.name);
    draft.add('password', ada.password);
  } else {
    draft.add('refresh_token', (await setting.sessions.current()).refresh_token);
  }
  if (plan.style === 'client_secret_basic') {
    draft.header('Authorization', basic(consoleClient));
  } else {
    draft.add('client_id', consoleClient.id);
    draft.add('client_secret', consoleClient.secret ?? '');
  }
  for (const variation of repeatsLast(plan.variations)) await variation.apply(draft, setting);
  return draft;
}

/** What is repeated is what the others made of it. */
const repeatsLast = (variations: readonly Variation[]): Variation[] => [
  ...variations.filter(({ phase }) => phase !== 'repeats'),
  ...variations.filter(({ phase }) => phase === 'repeats'),
];

export const isApplicable = ({ flows, styles }: Variation, flow: Flow, style: Style): boolean =>
  (flows?.includes(flow) ?? true) && (styles?.includes(style) ?? true);
