import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { KeepParts } from './keep-session.ts';
import type { LoginSessionOptions } from './login-arguments.ts';
import { ServerCalls } from './server/server-calls.ts';
import { TokenClient } from './server/token-client.ts';
import { SessionFile } from './session-file.ts';
import type { SessionInputs } from './session-inputs.ts';
import { type LockParts, SessionLock } from './session-lock.ts';

export interface SessionTools extends Pick<KeepParts, 'file' | 'lock' | 'tokens' | 'clock'> {
  readonly calls: ServerCalls;
}

interface SessionNeeds extends LockParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly userId: number | undefined;
}

/** The file and the lock of a session, and its server. */
export function sessionTools(options: LoginSessionOptions, inputs: SessionInputs, needs: SessionNeeds): SessionTools {
  const { server, clientId } = options;
  const { place, authority, clientSecret } = inputs;
  const { clock } = needs;
  const calls = new ServerCalls(server, { ...needs, authority });
  const file = new SessionFile(place, options, needs);
  const lock = new SessionLock(place.file, needs);
  return { calls, file, lock, tokens: new TokenClient({ calls, clock, server, clientId, clientSecret }), clock };
}
