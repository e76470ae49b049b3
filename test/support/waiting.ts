export interface Waiting {
  /** Runs between two readings. */
  readonly turn: () => Promise<unknown>;
  /** The most readings. Default: as many as the time allows. */
  readonly looks?: number;
  /** The time limit by the system's clock, for a wait that hangs. Default: only `looks` limits the wait. */
  readonly limitMs?: number;
  /** Says why the fact cannot come any more, for example that the process has ended; `undefined` while it can. */
  readonly lost?: (() => string | undefined) | undefined;
  /** Returns what to print besides the last value if the wait fails. */
  readonly saw?: (() => unknown) | undefined;
}

/** The waits that have not ended. */
const pending = new Set<{ hasTestEnded: boolean; said(): string }>();

/** Ends the waits that a timed-out test left behind, and prints what each waited for. */
export function endWaits(): void {
  for (const wait of pending) {
    wait.hasTestEnded = true;
    console.error(`the test ended while it waited for ${wait.said()}`);
  }
  pending.clear();
}

/**
 * Resolves to the value of `read` as soon as `isSo` holds for it. Rejects at a limit, or when `lost` says why it cannot hold any more. The
 * error shows the source of the condition and the last value.
 */
export async function waitFor<T>(
  read: () => T | Promise<T>,
  isSo: (value: T) => boolean,
  { turn, looks = Number.POSITIVE_INFINITY, limitMs = Number.POSITIVE_INFINITY, lost, saw }: Waiting,
): Promise<T> {
  const until = performance.now() + limitMs;
  let value = await read();
  const said = (): string =>
    `${sourceOf(isSo === Boolean ? read : isSo)}; there was ${textOf(saw ? [value, saw()] : value)}`;
  const wait = { hasTestEnded: false, said };
  const reasonToStop = (look: number): string | undefined => {
    if (wait.hasTestEnded) return 'the test has ended';
    if (look >= looks) return `${looks} looks were in vain`;
    if (performance.now() >= until) return `${limitMs / 1_000} s were in vain`;
    return lost?.();
  };
  pending.add(wait);
  try {
    for (let look = 0; !isSo(value); look++) {
      const reason = reasonToStop(look);
      if (reason === undefined) await turn();
      value = await read(); // the fact may have come before it was lost
      if (reason !== undefined && !isSo(value)) throw new Error(`${reason}: waited for ${said()}`);
    }
    return value;
  } finally {
    pending.delete(wait);
  }
}

/** The source text of a condition, in one line. */
const sourceOf = (condition: unknown): string => String(condition).replaceAll(/\s+/g, ' ').slice(0, 300);

const textOf = (value: unknown): string => (JSON.stringify(value) ?? String(value)).slice(0, 2_000);
