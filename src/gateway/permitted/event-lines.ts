import { memberAt, plainString, valueText } from './json-text.ts';
import { isTable, type ScopeFilter } from './scope-filter.ts';

const NEWLINE = 0x0a;
const COLUMNS = 'columnDefinitions';

/** The longest event, for the reason of `LONGEST_PART` in list-splitter.ts. */
const LONGEST_EVENT = 8 * 1024 * 1024;

/** Types of events that say something about the watch itself, and are passed to everybody. */
const OF_THE_WATCH: ReadonlySet<string | undefined> = new Set(['BOOKMARK', 'ERROR']);

/**
 * Lets through the events of a watch that are in a scope, byte for byte. It holds at most one event that has not arrived whole.
 *
 * The API server sends the columns of a Table with the first event only. If that event is left out, the first one that is let through
 * gets them: kubectl could not print it otherwise.
 */
export class EventLines {
  readonly #filter: ScopeFilter;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #columns: Buffer | undefined;
  #version: string | undefined;

  constructor(filter: ScopeFilter) {
    this.#filter = filter;
  }

  /** The version of the last event that was let through; a client may resume from it. */
  get version(): string | undefined {
    return this.#version;
  }

  /** The events of this chunk, and what was held before, that are let through. Throws when an event is too long. */
  write(chunk: Buffer): Buffer[] {
    const passed: Buffer[] = [];
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      const tail = chunk.subarray(from, end + 1);
      const line = this.#held.length === 0 ? tail : Buffer.concat([...this.#held, tail]);
      this.#held = [];
      this.#heldBytes = 0;
      from = end + 1;
      this.#judge(line, passed);
    }
    if (from < chunk.length) this.#hold(chunk.subarray(from));
    return passed;
  }

  #hold(rest: Buffer): void {
    this.#heldBytes += rest.length;
    if (this.#heldBytes > LONGEST_EVENT) throw new Error('an event of the cluster is too long');
    this.#held.push(Buffer.from(rest)); // a copy: the chunk belongs to the connection
  }

  #judge(line: Buffer, passed: Buffer[]): void {
    const object = memberAt(line, 0, 'object');
    const ofTable = isTable(line, object);
    const columnsAt = ofTable ? memberAt(line, object, COLUMNS) : -1;
    const hasColumns = columnsAt >= 0 && line[columnsAt] === 0x5b && line[columnsAt + 1] !== 0x5d;
    const type = plainString(line, memberAt(line, 0, 'type'));
    if (!OF_THE_WATCH.has(type) && !this.#filter.hasEvent(line)) {
      if (hasColumns) this.#columns = Buffer.from(valueText(line, columnsAt));
      return;
    }
    if (type !== 'ERROR') this.#version = versionIn(line, object) ?? this.#version;
    if (hasColumns) this.#columns = undefined;
    passed.push(ofTable ? this.#withColumns(line, object, columnsAt) : line);
  }

  #withColumns(line: Buffer, object: number, columnsAt: number): Buffer {
    const columns = this.#columns;
    if (!columns) return line;
    this.#columns = undefined;
    if (columnsAt < 0) {
      const member = Buffer.concat([Buffer.from(`{"${COLUMNS}":`), columns, Buffer.from(',')]);
      return Buffer.concat([line.subarray(0, object), member, line.subarray(object + 1)]);
    }
    const rest = line.subarray(columnsAt + valueText(line, columnsAt).length);
    return Buffer.concat([line.subarray(0, columnsAt), columns, rest]);
  }
}

/** The version of the event's object. A Table with one row has that of its object. */
const versionIn = (line: Buffer, object: number): string | undefined =>
  plainString(line, memberAt(line, memberAt(line, object, 'metadata'), 'resourceVersion'));
