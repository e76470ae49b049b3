const NOBODY: readonly string[] = [];

/**
 * An address as it is compared: ASCII letters in one case. `toLowerCase` alone would make ASCII of some letters beyond it, such as the
 * Kelvin sign.
 */
export const foldedEmail = (text: string): string => text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());

/** Who has which e-mail, without regard to case: addresses are ASCII. A change costs the same however many there are. */
export class EmailIndex {
  readonly #owners = new Map<string, readonly string[]>();
  #shared = 0;

  /** Addresses that more than one user has. */
  get shared(): number {
    return this.#shared;
  }

  ownersOf(email: string): readonly string[] {
    return this.#owners.get(foldedEmail(email)) ?? NOBODY;
  }

  /** The user `name` had the address `before` and has `now`. */
  moved(name: string, before: string | undefined, now: string | undefined): void {
    if (before === now) return;
    if (before !== undefined) this.#set(before, (owners) => owners.filter((owner) => owner !== name));
    if (now !== undefined) this.#set(now, (owners) => [...owners, name]);
  }

  #set(email: string, change: (owners: readonly string[]) => readonly string[]): void {
    const key = foldedEmail(email);
    const before = this.#owners.get(key) ?? NOBODY;
    const now = change(before);
    this.#shared += Number(now.length > 1) - Number(before.length > 1);
    if (now.length > 0) this.#owners.set(key, now);
    else this.#owners.delete(key);
  }
}
