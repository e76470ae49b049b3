import { expect } from 'vitest';
import type { ApiClient } from './api-client.ts';
import type { ConformanceTarget } from './target.ts';

/** What the parts of the suite share. Use it only in tests and hooks, when the target runs. */
export interface Suite {
  readonly api: ApiClient;
  readonly target: ConformanceTarget;
}

/** The body of a failure, with exactly these members. */
export const failure = (code: number, reason: string, message: string, details?: object): object => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message,
  reason,
  ...(details && { details }),
  code,
});

export const OUTDATED = 'the object has been modified; please apply your changes to the latest version and try again';

/** The Status for a version that the server has not reached; the message ends with the server's newest. */
export const tooLarge = (wanted: string): object =>
  failure(
    504,
    'Timeout',
    expect.stringMatching(new RegExp(`^Timeout: Too large resource version: ${wanted}, current: \\d+$`)),
    {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  );
