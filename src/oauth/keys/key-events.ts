import type { SecurityEvents } from '../../security-events.ts';
import type { LoadedKeys } from './loaded-keys.ts';

/** Reports what changed in the keys of this replica. Each replica reports a change when it has loaded it. */
export function reportKeyChanges(before: LoadedKeys, now: LoadedKeys, events: SecurityEvents): void {
  const stateBefore = new Map(before.keys.map(({ kid, state }) => [kid, state]));
  const listed = new Set(now.keys.map(({ kid }) => kid));
  for (const { kid, state } of now.keys) {
    if (state === stateBefore.get(kid)) continue;
    if (state === 'next') events.report('signing_key_published', { kid });
    if (state === 'active') events.report('signing_key_activated', { kid, instead: before.active });
    if (state === 'revoked') events.report('signing_key_revoked', { kid });
  }
  for (const { kid, state } of before.keys)
    if (state === 'verify-only' && !listed.has(kid)) events.report('signing_key_retired', { kid });
  if (now.kept.some((key) => !before.kept.some(({ kid }) => kid === key.kid)))
    events.report('signing_keys_missing', { kids: now.kept.map(({ kid }) => kid) });
}
