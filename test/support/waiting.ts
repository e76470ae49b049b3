export interface Waiting {
  /** What happens between two looks. */
  readonly turn: () => Promise<unknown>;
  /** How often it is looked at; default: as often as the time allows. */
  readonly looks?: number;
  /** The limit by the system's clock, for what hangs; default: the number of looks alone. */
  readonly limitMs?: number;
  /** Says why the fact cannot come any more, for example that the process has ended; `undefined` while it can. */
  readonly lost?: (() => string | undefined) | undefined;
  /** What to tell if it does not come about, besides the value that was read. */
  readonly saw?: (() => unknown) | undefined;
}

/** The waits under way. */
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
 * The value that `read` gives as soon as it is so. Rejects once it is known that this does not come about, with the condition as the
 * test has it and what was there instead.
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
      value = await read(); // what is lost now may have come before
      if (reason !== undefined && !isSo(value)) throw new Error(`${reason}: waited for ${said()}`);
    }
    return value;
  } finally {
    pending.delete(wait);
  }
}

/** A condition as the test has it, in one line. */
const sourceOf = (condition: unknown): string => String(condition).replaceAll(/\s+/g, ' ').slice(0, 300);

const textOf = (value: unknown): string => (JSON.stringify(value) ?? String(value)).slice(0, 2_000);
