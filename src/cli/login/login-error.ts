/** Why `login`, `logout` or `kubeconfig` failed: one sentence for people, without a secret. */
export class LoginError extends Error {
  override readonly name = 'LoginError';
}

/** The server was not reached, or its answer was lost on the way. */
export class NoAnswerError extends LoginError {}

/** The error code and text of a failed system call: `EACCES: permission denied`, without the path. */
export const systemReason = (error: unknown): string => (error as Error).message.replace(/, \w+( '.*)?$/s, '');
