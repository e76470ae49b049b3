import { noted, send } from '../api/call.ts';
import { type Refusal, refusalOf } from '../api/refusal.ts';
import { readLines } from './lines.ts';

/** The metadata of the objects is enough: it says which have changed. */
const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

/** A watch that has begun, as its lines, several at a time; or why there is none. */
export type OpenedWatch = { readonly lines: AsyncIterable<readonly string[]> } | { readonly refusal: Refusal };

/** Opens a watch of a list from now on, without its first state. Rejects when the server does not answer, or when the signal aborts. */
export async function openWatch(
  path: string,
  parameters: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<OpenedWatch> {
  const query = new URLSearchParams({
    ...parameters,
    ...{ watch: 'true', sendInitialEvents: 'false', resourceVersionMatch: 'NotOlderThan' },
  });
  const address = `${path}?${query}`;
  const answer = await send(address, { headers: { Accept: METADATA }, signal });
  if (answer.ok && answer.body) return { lines: readLines(answer.body) };
  return { refusal: noted(refusalOf({ method: 'GET', path: address }, answer, await answer.text())) };
}
