import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, COLON, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from './json-bytes.ts';

/**
 * The most bytes of one item, or of one other member of a list. etcd accepts no object above 1.5 MiB (`--max-request-bytes`); as JSON it
 * may be a few times as long.
 */
const LONGEST_PART = 8 * 1024 * 1024;

/** The arrays of a list that hold its objects: `rows` in a Table. */
const ARRAYS: ReadonlySet<string> = new Set(['items', 'rows']);

/** Receives the parts of a list in their order. */
export interface ListParts {
  /** The items, or the rows, follow. Called once. */
  begin(array: string): void;
  /** The bytes of one item or row. Valid until the call returns. */
  item(bytes: Buffer): void;
  /** A member of the list beside its array, with the bytes of its value. */
  member(name: string, value: Buffer): void;
}

/** The text is not a list as the API server writes one. */
export class UnreadableList extends Error {
  constructor(what: string) {
    super(`the list of the cluster is not readable: ${what}`);
    this.name = 'UnreadableList';
  }
}

type Phase = 'start' | 'name or end' | 'name' | 'colon' | 'value' | 'in value' | 'item or end' | 'in item' | 'done';

/**
 * Cuts the JSON of a list into its parts while it arrives. It holds one item at a time and copies only those that cross a chunk, so the
 * memory is bounded however long the list is, and the bytes of each item stay the cluster's own.
 */
export class ListSplitter {
  readonly #into: ListParts;
  #phase: Phase = 'start';
  #isInString = false;
  #isEscaped = false;
  /** How many braces and brackets of the present part are open. */
  #depth = 0;
  #name = '';
  /** The beginning of the present part, from earlier chunks. */
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** Where the present part begins in the present chunk; -1 outside of one. */
  #from = -1;
  #chunk: Buffer = Buffer.alloc(0);

  constructor(into: ListParts) {
    this.#into = into;
  }

  /** Throws `UnreadableList`. */
  write(chunk: Buffer): void {
    this.#chunk = chunk;
    if (this.#from >= 0) this.#from = 0;
    for (let at = 0; at < chunk.length; ) at = this.#isInString ? this.#inString(at) : this.#step(at);
    if (this.#from < 0) return;
    this.#heldBytes += chunk.length - this.#from;
    if (this.#heldBytes > LONGEST_PART) throw new UnreadableList('one of its parts is too long');
    // A copy: the chunk belongs to the connection.
    this.#held.push(Buffer.from(chunk.subarray(this.#from)));
  }

  /** Throws `UnreadableList` when the list is not complete. */
  end(): void {
    if (this.#phase !== 'done') throw new UnreadableList('it is not complete');
  }

  #inString(from: number): number {
    const chunk = this.#chunk;
    let at = from;
    for (; at < chunk.length; at++) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (chunk[at] === BACKSLASH) this.#isEscaped = true;
      else if (chunk[at] === QUOTE) return this.#stringEnded(at + 1);
    }
    return at;
  }

  #stringEnded(after: number): number {
    this.#isInString = false;
    if (this.#phase === 'name') {
      this.#name = this.#take(after).toString('latin1').slice(1, -1);
      this.#phase = 'colon';
    } else if (this.#depth === 0) this.#partEnded(after);
    return after;
  }

  /** Reads the byte outside of a string at `at`. Returns the index of the next one to read. */
  #step(at: number): number {
    const byte = this.#chunk[at] as number;
    const phase = this.#phase;
    if (phase === 'in item' || phase === 'in value') return this.#inPart(at, byte);
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) return at + 1;
    switch (phase) {
      case 'start':
        return this.#expect(byte === OPEN_BRACE, 'name or end', at);
      case 'name or end':
        if (byte === CLOSE_BRACE) return this.#expect(true, 'done', at);
        if (byte === COMMA) return at + 1;
        return this.#begin('name', byte === QUOTE, at);
      case 'colon':
        return this.#expect(byte === COLON, 'value', at);
      case 'value':
        if (byte !== OPEN_BRACKET || !ARRAYS.has(this.#name)) return this.#begin('in value', true, at);
        this.#into.begin(this.#name);
        return this.#expect(true, 'item or end', at);
      case 'item or end':
        if (byte === CLOSE_BRACKET) return this.#expect(true, 'name or end', at);
        if (byte === COMMA) return at + 1;
        return this.#begin('in item', byte === OPEN_BRACE, at);
      case 'name':
      case 'done':
        throw new UnreadableList('there is more after its end');
      default:
        return phase satisfies never;
    }
  }

  #expect(isSo: boolean, next: Phase, at: number): number {
    if (!isSo) throw new UnreadableList(`unexpected text, ${this.#phase}`);
    this.#phase = next;
    return at + 1;
  }

  #begin(phase: Phase, isSo: boolean, at: number): number {
    this.#expect(isSo, phase, at);
    this.#from = at;
    this.#depth = 0;
    if (phase !== 'name') return at;
    this.#isInString = true;
    return at + 1;
  }

  #inPart(from: number, first: number): number {
    const chunk = this.#chunk;
    let byte = first;
    for (let at = from; at < chunk.length; byte = chunk[++at] as number) {
      if (byte === QUOTE) {
        this.#isInString = true;
        return at + 1;
      }
      if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.#depth++;
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        if (this.#depth === 0) return this.#partEnded(at);
        if (--this.#depth === 0) return this.#partEnded(at + 1);
      } else if (byte === COMMA && this.#depth === 0) return this.#partEnded(at);
    }
    return chunk.length;
  }

  #partEnded(after: number): number {
    const bytes = this.#take(after);
    if (this.#phase === 'in item') {
      this.#phase = 'item or end';
      this.#into.item(bytes);
    } else {
      this.#phase = 'name or end';
      this.#into.member(this.#name, bytes);
    }
    return after;
  }

  #take(after: number): Buffer {
    const tail = this.#chunk.subarray(this.#from, after);
    const bytes = this.#held.length === 0 ? tail : Buffer.concat([...this.#held, tail]);
    this.#held = [];
    this.#heldBytes = 0;
    this.#from = -1;
    return bytes;
  }
}
