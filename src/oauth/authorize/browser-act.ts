import type { SecurityEvents } from '../../security-events.ts';
import { toOAuthError } from '../endpoints/refusals.ts';
import { Act, type Origin } from '../tokens/act.ts';

/** Runs the handler of a browser's request. The act is reported when it ends; every error becomes an `OAuthError`. */
export async function asAct<Answer>(
  events: SecurityEvents,
  origin: Origin,
  handle: (act: Act) => Promise<Answer>,
): Promise<Answer> {
  const act = new Act(events, origin, 'authorize');
  try {
    return await handle(act);
  } catch (error) {
    const refusal = toOAuthError(error);
    act.refused(refusal.refusal);
    throw refusal;
  } finally {
    act.end();
  }
}
