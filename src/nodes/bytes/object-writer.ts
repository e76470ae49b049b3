/** Writes one compact JSON text, member by member. */
export class ObjectWriter {
  text = '';
  /** A member has been written into the object that is open. */
  hasMembers = false;

  open(key?: string): void {
    if (key !== undefined) this.#name(key);
    this.text += '{';
    this.hasMembers = false;
  }

  close(): void {
    this.text += '}';
    this.hasMembers = true;
  }

  /** `value` is plain JSON. */
  member(key: string, value: unknown): void {
    this.#name(key);
    this.text += JSON.stringify(value);
  }

  #name(key: string): void {
    this.text += this.hasMembers ? `,${JSON.stringify(key)}:` : `${JSON.stringify(key)}:`;
    this.hasMembers = true;
  }
}
