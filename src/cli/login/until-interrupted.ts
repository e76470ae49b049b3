import { LoginError } from './login-error.ts';

export interface Interruptible {
  /** Calls `act` at Ctrl-C or SIGTERM, until the returned function is called. */
  onInterrupt(act: () => void): () => void;
}

/**
 * Resolves as `work` does, and rejects at Ctrl-C. Without a listener Linux ignores the signal if this is the first process of a
 * container.
 */
export async function untilInterrupted<T>(work: Promise<T>, { onInterrupt }: Interruptible): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const forget = onInterrupt(() => reject(new LoginError('interrupted: nobody was signed in')));
  try {
    return await Promise.race([work, promise]);
  } finally {
    forget();
  }
}
