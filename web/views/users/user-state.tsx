import { type KubernetesObject, ownOf, textAt } from '../../api/objects.ts';
import { State, type Tone } from '../../parts/state.tsx';
import { t } from '../../texts/text.ts';

const TONES: Readonly<Record<string, Tone>> = { Active: 'good', AuthLimitExceeded: 'warn', Disabled: 'idle' };

/** Whether a user may sign in (docs/contract/accounts.md, section 4). */
export function UserState({ user }: { readonly user: KubernetesObject }) {
  const state = textAt(user.status, 'state');
  const words: Readonly<Record<string, string>> = t().users.states;
  return <State tone={ownOf(TONES, state) ?? 'idle'}>{ownOf(words, state) ?? state}</State>;
}
