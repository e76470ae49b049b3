import type { Bodies, Body } from './bodies.ts';
import type { Chance } from './chance.ts';
import type { Headers } from './headers.ts';
import type { Queries } from './queries.ts';
import { NODES, type Targets } from './targets.ts';

/** What one connection sends. */
export interface HostileRequest {
  /** Written one after the other; one byte a character. */
  readonly pieces: readonly string[];
  /**
   * What the client does after that: waits until the server has answered and closed; leaves in the middle; or looks for a moment and
   * leaves, because it owes the server something, or is told of changes.
   */
  readonly after: 'wait' | 'leave' | 'look';
}

export interface RequestParts {
  readonly chance: Chance;
  readonly targets: Targets;
  readonly queries: Queries;
  readonly headers: Headers;
  readonly bodies: Bodies;
}

const METHODS = [
  ...['GET', 'GET', 'GET', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND'],
  ...['QUERY'],
];
const ODD_METHODS = ['get', 'G', '', 'GET\t', ' GET', 'GE\0T', 'POST /x', 'X'.repeat(300), 'CONNECT', 'PRI', 'é'];
const VERSIONS = [
  ...['HTTP/1.0', 'HTTP/0.9', 'HTTP/2.0', 'HTTP/1.2', 'HTTP/11', 'http/1.1', 'HTTP/1.1 ', 'HTTP/1.1\t'],
  ...['ICE/1.0', ''],
];
/** Two ways to say where a body ends, or one that says nothing. */
const FRAMES = [
  ...['Content-Length: 5\r\nContent-Length: 6', 'Content-Length: 5, 5', 'Content-Length: +5'],
  ...['Content-Length: -1', 'Content-Length: 0x5', 'Content-Length: 5\r\nTransfer-Encoding: chunked'],
  ...['Transfer-Encoding: chunked\r\nContent-Length: 5', 'Content-Length: 1e3'],
  ...['Transfer-Encoding: chunked, chunked', 'Transfer-Encoding: gzip, chunked'],
  ...['Transfer-Encoding: identity', 'Transfer-Encoding: x', 'Transfer-Encoding:\tchunked'],
  ...['Transfer-Encoding: chunked\r\nTransfer-Encoding: identity', 'Transfer-Encoding: "chunked"'],
  ...['Content-Length: 99999999999999999999', 'Content-Length: 18446744073709551621', 'Content-Length:'],
  ...['Content-Length: 5 5'],
];
const SMUGGLED = `GET ${NODES} HTTP/1.1\r\nHost: a\r\n\r\n`;
const CHUNKS = [
  ...['5\r\nabcde\r\n0\r\n\r\n', 'g\r\n', '-1\r\n', '0x5\r\nabcde\r\n', '5;a=b\r\nabcde\r\n0\r\n\r\n'],
  ...['5 \r\nabcde\r\n0\r\n\r\n', '\r\n', 'ffffffffffffffff\r\n', '10000000000000005\r\n', '5\nabcde\n0\n\n'],
  ...['5\r\nabcdeX\r\n0\r\n\r\n', `0\r\n\r\n${SMUGGLED}`, `5;${'a'.repeat(20_000)}\r\nabcde\r\n`],
  ...['0\r\nTrailer: x\r\nContent-Length: 5\r\n\r\n', '00000000000000000000005\r\nabcde\r\n0\r\n\r\n'],
  '1\r\na\r\n'.repeat(5_000),
];
const LINE = ['\r\n', '\r\n', '\r\n', '\n', '\r', '\r\r\n'];

/** Anything that a client may send to break, confuse or outwit the server. */
export class HostileRequests {
  readonly #parts: RequestParts;

  constructor(parts: RequestParts) {
    this.#parts = parts;
  }

  next(): HostileRequest {
    const { chance } = this.#parts;
    const request = chance.made(
      this.#query,
      this.#query,
      this.#form,
      this.#form,
      this.#any,
      this.#any,
      this.#framed,
      this.#pipelined,
      this.#noise,
    );
    if (chance.percent(4)) return { pieces: [request.pieces.join('').slice(0, chance.count(0, 400))], after: 'leave' };
    if (!chance.percent(8)) return request;
    const whole = request.pieces.join('');
    const at = chance.count(0, whole.length);
    return { ...request, pieces: [whole.slice(0, at), whole.slice(at)] };
  }

  /** Well formed, with a query that is not. */
  readonly #query = (): HostileRequest => {
    const { chance, queries, headers } = this.#parts;
    const target = `${NODES}?${queries.any()}`;
    const lines = chance.percent(80) ? [headers.good()] : headers.any();
    return this.#request(`GET ${target} HTTP/1.1`, lines);
  };

  /** A form or a JSON body, its length told as it is. */
  readonly #form = (): HostileRequest => {
    const { chance, headers, bodies, queries } = this.#parts;
    const endpoint = chance.one([
      ...['token', 'token', 'token', 'revoke', 'introspect', 'authenticate', 'logout', 'userinfo'],
    ]);
    const query = chance.percent(5) ? `?${queries.any()}` : '';
    const lines = chance.percent(30) ? headers.any() : [];
    return this.#request(`POST /oauth/${endpoint}${query} HTTP/1.1`, lines, bodies.any());
  };

  readonly #any = (): HostileRequest => {
    const { chance, targets, headers, bodies } = this.#parts;
    const version = chance.percent(95) ? 'HTTP/1.1' : chance.one(VERSIONS);
    const space = chance.percent(98) ? ' ' : chance.one(['  ', '\t', '', '\0']);
    const method = chance.one(chance.percent(92) ? METHODS : ODD_METHODS);
    const first = [method, targets.any(), version].join(space);
    return this.#request(first, headers.any(), chance.percent(25) ? bodies.any() : undefined);
  };

  /** A body whose end is told wrongly, twice, in broken chunks, or not at all. */
  readonly #framed = (): HostileRequest => {
    const { chance, headers, bodies } = this.#parts;
    const path = chance.one([NODES, '/oauth/token', '/oauth/revoke', '/oauth/logout', '/healthz', '/nothing']);
    const { type, text } = bodies.any();
    const short = `Content-Length: ${text.length + chance.count(1, 90_000)}`;
    const frame = chance.one([chance.one(FRAMES), 'Transfer-Encoding: chunked', 'Transfer-Encoding: chunked', short]);
    const sent = chance.one([chance.one(CHUNKS), chance.one(CHUNKS), text, text + SMUGGLED, SMUGGLED]);
    const lines = [...headers.any(), `Content-Type: ${type}`, frame];
    const expected = chance.percent(10) ? ['Expect: 100-continue'] : [];
    return {
      pieces: [head(`POST ${path} HTTP/1.1`, ['Host: a', ...lines, ...expected], chance.one(LINE)), sent],
      after: 'look',
    };
  };

  /** Several on one connection, the last of them of any kind. */
  readonly #pipelined = (): HostileRequest => {
    const { chance, headers } = this.#parts;
    const quick = () =>
      head(`GET ${chance.one(['/healthz', NODES, '/version'])} HTTP/1.1`, ['Host: a', headers.authorization()]);
    const last = chance.made(this.#any, this.#form, this.#query);
    return { pieces: [chance.some(20, quick).join('') + last.pieces.join('')], after: last.after };
  };

  /** No HTTP at all. */
  readonly #noise = (): HostileRequest => {
    const { chance } = this.#parts;
    const text = chance.made(
      () => chance.bytes(2_000),
      () =>
        chance.one([
          '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03',
          'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
          'SSH-2.0-x\r\n',
          'EHLO a\r\n',
          '\0'.repeat(500),
        ]),
      () => '\r\n'.repeat(chance.count(1, 4_000)),
      () => `GET /${'a'.repeat(chance.count(1, 40_000))}`,
    );
    return { pieces: [text], after: 'look' };
  };

  #request(first: string, lines: readonly string[], body?: Body): HostileRequest {
    const { chance } = this.#parts;
    const content = body && Buffer.from(body.text).toString('latin1');
    const told = body ? [`Content-Type: ${body.type}`, `Content-Length: ${content?.length}`] : [];
    const host = chance.percent(96)
      ? ['Host: a']
      : chance.one([[], ['Host: a', 'Host: a'], ['Host: a/b'], ['Host: '], [`Host: ${'a'.repeat(5_000)}`]]);
    const line = chance.percent(97) ? '\r\n' : chance.one(LINE);
    const text = head(first, [...host, ...lines, ...told, 'Connection: close'], line);
    // A watch ends when its client leaves; broken lines may leave the server waiting for the rest of them.
    const isOwed =
      line !== '\r\n' || /watch/i.test(first) || lines.some((one) => /[\r\n]|^\s|upgrade|expect|connection/i.test(one));
    return { pieces: content === undefined ? [text] : [text, content], after: isOwed ? 'look' : 'wait' };
  }
}

const head = (first: string, lines: readonly string[], line = '\r\n'): string => [first, ...lines, '', ''].join(line);
