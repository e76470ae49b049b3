import type { ClientParts } from './client-parts.ts';
import type { LogoutRequest } from './login-arguments.ts';
import { LoginError } from './login-error.ts';
import type { SavedSession } from './session.ts';
import { sessionInputs } from './session-inputs.ts';
import { type SessionTools, sessionTools } from './session-tools.ts';

/** Ends the session at the server, or all of the user, and removes the file. Throws a `LoginError`, and keeps the file, if it cannot. */
export async function signOut(request: LogoutRequest, parts: ClientParts): Promise<void> {
  const { server } = request;
  const inputs = sessionInputs(request, parts);
  const { file, lock, tokens } = sessionTools(request, inputs, { ...parts, ...(await parts.loadMore()) });
  if ((await file.read()) === undefined) return parts.complain(`nobody is signed in at ${server}`);
  await file.prepareFolder();
  await lock.hold(async () => {
    const session = await file.read();
    if (session === undefined) return; // another process signed out first
    if (request.isAll) await endAll(session, { file, tokens });
    await tokens.revoke(session);
    await file.remove();
  });
  parts.complain(request.isAll ? `every session at ${server} has ended` : `signed out at ${server}`);
}

/** Ends every session of the user. This needs a valid access token, so the session may have to be refreshed first. */
async function endAll(session: SavedSession, { file, tokens }: Pick<SessionTools, 'file' | 'tokens'>): Promise<void> {
  if (await tokens.signOutEverywhere(session)) return;
  const renewed = await tokens.refresh(session);
  if (renewed) await file.write(renewed); // kept in case the next call fails: the old refresh token is used up
  if (renewed === undefined || !(await tokens.signOutEverywhere(renewed)))
    throw new LoginError(
      `this session has ended, so it cannot end the others at ${session.server}: sign in again, then run logout --all`,
    );
}
