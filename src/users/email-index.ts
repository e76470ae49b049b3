const NOBODY: readonly string[] = [];

/** Who has which e-mail, without regard to case: addresses are ASCII. A change costs the same however many there are. */
export class EmailIndex {
  readonly #owners = new Map<string, readonly string[]>();
  #shared = 0;

  /** Addresses that more than one user has. */
  get shared(): number {
    return this.#shared;
  }

  ownersOf(email: string): readonly string[] {
    return this.#owners.get(email.toLowerCase()) ?? NOBODY;
  }

  /** The user `name` had the address `before` and has `now`. */
  moved(name: string, before: string | undefined, now: string | undefined): void {
    if (before === now) return;
    if (before !== undefined) this.#set(before, (owners) => owners.filter((owner) => owner !== name));
    if (now !== undefined) this.#set(now, (owners) => [...owners, name]);
  }

  #set(email: string, change: (owners: readonly string[]) => readonly string[]): void {
    const key = email.toLowerCase();
    const before = this.#owners.get(key) ?? NOBODY;
    const now = change(before);
    this.#shared += Number(now.length > 1) - Number(before.length > 1);
    if (now.length > 0) this.#owners.set(key, now);
    else this.#owners.delete(key);
  }
}
