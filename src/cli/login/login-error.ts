/** Why a command of a signed-in person ended without what was asked for: one sentence for people, without a secret. */
export class LoginError extends Error {
  override readonly name = 'LoginError';
}

/** The server was not reached, or its answer was lost on the way. */
export class NoAnswerError extends LoginError {}

/** The reason of a failed call of the operating system, in its own words: `EACCES: permission denied`. */
export const systemReason = (error: unknown): string => (error as Error).message.replace(/, \w+( '.*)?$/s, '');
