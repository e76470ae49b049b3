import { onAbort } from '../runtime/abort.ts';

/** A long-lived part: runs until the signal aborts, throws only when broken. */
export interface Part {
  readonly name: string;
  run(signal: AbortSignal): Promise<void>;
}

/** A part that ended without being asked to. */
class PartEnded extends Error {
  constructor(name: string, cause?: unknown) {
    super(cause === undefined ? `${name} ended by itself` : `${name} failed`, { cause });
    this.name = 'PartEnded';
  }
}

/**
 * Runs the parts together until the signal aborts or one of them ends, which stops the others. Returns when all have ended. Parts stop
 * in the order of `stages`: a stage is aborted when every part of the previous stage has ended. So the server can drain while the cache
 * behind it still runs.
 */
export async function runGroup(stages: readonly (readonly Part[])[], signal: AbortSignal): Promise<void> {
  const controllers = stages.map(() => new AbortController());
  const failure = { first: undefined as PartEnded | undefined };
  const stop = (): void => controllers[0]?.abort();
  const letGo = onAbort(signal, stop);
  const ends = stages.map((parts, stage) => {
    const own = (controllers[stage] as AbortController).signal;
    return parts.map((part) =>
      part.run(own).then(
        () => (own.aborted ? undefined : new PartEnded(part.name)),
        (error: unknown) => new PartEnded(part.name, error),
      ),
    );
  });
  for (const end of ends.flat()) {
    void end.then((ended) => {
      failure.first ??= ended;
      if (ended) stop();
    });
  }
  for (const [stage, parts] of ends.entries()) {
    await Promise.all(parts);
    controllers[stage + 1]?.abort();
  }
  letGo();
  if (failure.first) throw failure.first;
}
