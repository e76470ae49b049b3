import type { Random } from '../../../src/runtime/random.ts';
import { Draft } from './draft.ts';
import { ada, basic, consoleClient } from './people.ts';
import type { Sessions } from './sessions.ts';

/** What a request is for, before anything about it is varied. */
export type Flow = 'password' | 'refresh_token' | 'revoke' | 'introspect' | 'userinfo';

export const TOKEN_FLOWS: readonly Flow[] = ['password', 'refresh_token'];
export const QUESTION_FLOWS: readonly Flow[] = ['revoke', 'introspect'];
export const FORM_FLOWS: readonly Flow[] = [...TOKEN_FLOWS, ...QUESTION_FLOWS];

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
  /** Default: all that post a form. */
  readonly flows?: readonly Flow[];
  /** Default: all. */
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

const PATHS: Readonly<Record<Flow, string>> = {
  password: '/oauth/token',
  refresh_token: '/oauth/token',
  revoke: '/oauth/revoke',
  introspect: '/oauth/introspect',
  userinfo: '/oauth/userinfo',
};

/** What a plan comes to at one server, with that server's tokens in it. */
export async function drafted(plan: Plan, setting: Setting): Promise<Draft> {
  const draft = new Draft(PATHS[plan.flow]);
  await begin[plan.flow](draft, setting.sessions);
  if (plan.flow !== 'userinfo') authenticate(draft, plan.style);
  for (const variation of repeatsLast(plan.variations)) await variation.apply(draft, setting);
  return draft;
}

const begin: Readonly<Record<Flow, (draft: Draft, sessions: Sessions) => void | Promise<void>>> = {
  password: (draft) => {
    draft.add('grant_type', 'password');
    draft.add('username', ada.name);
    draft.add('password', ada.password);
  },
  refresh_token: async (draft, sessions) => {
    draft.add('grant_type', 'refresh_token');
    draft.add('refresh_token', (await sessions.current()).refresh_token);
  },
  revoke: async (draft, sessions) => draft.add('token', (await sessions.current()).refresh_token),
  introspect: async (draft, sessions) => draft.add('token', (await sessions.current()).access_token),
  userinfo: async (draft, sessions) => {
    draft.method = 'GET';
    draft.header('Content-Type');
    draft.header('Authorization', `Bearer ${(await sessions.withOpenid()).access_token}`);
  },
};

function authenticate(draft: Draft, style: Style): void {
  if (style === 'client_secret_basic') {
    draft.header('Authorization', basic(consoleClient));
  } else {
    draft.add('client_id', consoleClient.id);
    draft.add('client_secret', consoleClient.secret ?? '');
  }
}

/** What is repeated is what the others made of it. */
const repeatsLast = (variations: readonly Variation[]): Variation[] => [
  ...variations.filter(({ phase }) => phase !== 'repeats'),
  ...variations.filter(({ phase }) => phase === 'repeats'),
];

export const isApplicable = ({ flows, styles }: Variation, flow: Flow, style: Style): boolean =>
  (flows ?? FORM_FLOWS).includes(flow) && (styles?.includes(style) ?? true);
