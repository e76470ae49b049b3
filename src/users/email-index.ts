const NOBODY: readonly string[] = [];

/**
 * An address in the form in which it is compared: ASCII letters in lower case. `toLowerCase` alone would also turn some other letters,
 * such as the Kelvin sign, into ASCII ones.
 */
export const foldedEmail = (text: string): string => text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());

/** Maps e-mail addresses to users, without regard to case; addresses are ASCII. The cost of a change does not grow with their number. */
export class EmailIndex {
  readonly #owners = new Map<string, readonly string[]>();
  #shared = 0;

  /** The number of addresses that more than one user has. */
  get shared(): number {
    return this.#shared;
  }

  ownersOf(email: string): readonly string[] {
    return this.#owners.get(foldedEmail(email)) ?? NOBODY;
  }

  /** Replaces the address `before` of the user `name` by `now`; `undefined` stands for no address. */
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
