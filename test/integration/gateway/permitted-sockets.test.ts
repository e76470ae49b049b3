import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { HEAD } from './gateway-under-test.ts';
import { nameOf, type PermittedUnderTest, podOf, startPermitted } from './permitted-under-test.ts';
import { RawConnection } from './raw-connection.ts';

const [IN, OUT] = [nameOf(7), nameOf(8)];
/** The key and the answer to it of RFC 6455 1.3. */
const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';
const ACCEPT = 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=';
const MASK = Buffer.from([1, 2, 3, 4]);

let stand: PermittedUnderTest;
beforeAll(async () => {
  stand = await startPermitted();
});
afterAll(() => stand.stop());
const open: RawConnection[] = [];
afterEach(async () => {
  for (const { socket } of open.splice(0)) socket.destroy();
  await expect.poll(() => stand.cluster.evidence.openWatches()).toBe(0);
  stand.rights.revokeAll();
  stand.rights.isEverywhere = false;
  stand.cluster.evidence.reset();
  stand.app.events.length = 0;
  await stand.clock.advance(31_000); // what was seen of the scope is forgotten
});

interface Frame {
  readonly opcode: number;
  readonly payload: Buffer;
}

/** Frames without masks, as a server sends them. */
function framesIn(bytes: Buffer): Frame[] {
  const frames: Frame[] = [];
  for (let at = 0; at + 2 <= bytes.length; ) {
    const short = bytes[at + 1] as number;
    const header = short === 126 ? 4 : short === 127 ? 10 : 2;
    if (at + header > bytes.length) break;
    const length =
      short === 126 ? bytes.readUInt16BE(at + 2) : short === 127 ? Number(bytes.readBigUInt64BE(at + 2)) : short;
    if (at + header + length > bytes.length) break;
    frames.push({ opcode: (bytes[at] as number) & 0x0f, payload: bytes.subarray(at + header, at + header + length) });
    at += header + length;
  }
  return frames;
}

/** A frame with a mask, as a client sends it. */
function masked(opcode: number, payload: Buffer): Buffer {
  const length =
    payload.length < 126 ? [0x80 | payload.length] : [0x80 | 126, payload.length >> 8, payload.length & 0xff];
  const hidden = payload.map((byte, at) => byte ^ (MASK[at % 4] as number));
  return Buffer.concat([Buffer.from([0x80 | opcode, ...length]), MASK, hidden]);
}

/** A watch over a WebSocket, and what has come so far. */
class SocketWatch {
  readonly connection: RawConnection;

  private constructor(connection: RawConnection) {
    this.connection = connection;
  }

  static async open(path = '/api/v1/pods?watch=1', more = ''): Promise<SocketWatch> {
    const upgrade = `Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: ${KEY}\r\nSec-WebSocket-Version: 13\r\n`;
    const connection = await RawConnection.open(stand.app.port, `GET ${path} HTTP/1.1\r\n${HEAD}${upgrade}${more}\r\n`);
    open.push(connection);
    await connection.until(/\r\n\r\n/);
    return new SocketWatch(connection);
  }

  get head(): string {
    return this.connection.text.split('\r\n\r\n')[0] as string;
  }

  get frames(): Frame[] {
    const bytes = Buffer.concat(this.connection.pieces);
    return framesIn(bytes.subarray(bytes.indexOf('\r\n\r\n') + 4));
  }

  /** `TYPE namespace/name` of each event. */
  get story(): string[] {
    const texts = this.frames.filter(({ opcode }) => opcode === 1).map(({ payload }) => payload.toString());
    return texts.map((text) => {
      const { type, object } = JSON.parse(text);
      return type === 'ERROR' ? `ERROR ${object.code}` : `${type} ${object.metadata.namespace}/${object.metadata.name}`;
    });
  }

  /** The code and reason of the close frame, once it has come. */
  async closed(): Promise<[code: number, reason: string]> {
    await expect.poll(() => this.frames.some(({ opcode }) => opcode === 8)).toBe(true);
    const payload = this.frames.find(({ opcode }) => opcode === 8)?.payload as Buffer;
    return [payload.readUInt16BE(0), payload.subarray(2).toString()];
  }

  send(opcode: number, payload: string | Buffer): void {
    this.connection.socket.write(masked(opcode, Buffer.from(payload)));
  }
}

const patch = (key: string, step: string) =>
  stand.cluster.objects.patch('pods', key, { metadata: { labels: { step } } });

async function listed(): Promise<string> {
  const answer = await stand.app.get('/api/v1/pods');
  return ((await answer.json()) as { metadata: { resourceVersion: string } }).metadata.resourceVersion;
}

describe('a permitted watch by websocket', () => {
  test('KD-32 tells the changes in the scope from the version of a list, an event in each text frame', async () => {
    stand.rights.grant(IN);
    const version = await listed();
    const watch = await SocketWatch.open(`/api/v1/pods?watch=1&resourceVersion=${version}`);
    expect(watch.head).toMatch(/^HTTP\/1\.1 101 /);
    expect(watch.head).toContain(`Sec-WebSocket-Accept: ${ACCEPT}`);
    expect(watch.head).not.toContain('Sec-WebSocket-Protocol');
    patch(`${OUT}/pod`, '1');
    patch(`${IN}/pod`, '1');
    stand.cluster.objects.create('pods', { ...podOf(IN, 'long'), spec: { note: 'x'.repeat(70_000) } });
    stand.cluster.objects.remove('pods', `${IN}/long`);
    await expect.poll(() => watch.story.length).toBe(3);
    expect(watch.story).toEqual([`MODIFIED ${IN}/pod`, `ADDED ${IN}/long`, `DELETED ${IN}/long`]);
  });

  test('KD-32 has the first offered subprotocol, and takes the bearer from among them', async () => {
    stand.rights.grant(IN);
    const watch = await SocketWatch.open(
      '/api/v1/pods?watch=1',
      'Sec-WebSocket-Protocol: base64.binary.k8s.io, other\r\n',
    );
    expect(watch.head).toContain('Sec-WebSocket-Protocol: base64.binary.k8s.io\r\n');
    await expect.poll(() => watch.story.length).toBe(2);
  });

  test('KD-32 answers pings, takes what else a client sends, and a close with the same code', async () => {
    stand.rights.grant(IN);
    const watch = await SocketWatch.open();
    watch.send(1, 'text '.repeat(100));
    watch.send(2, '');
    watch.send(9, 'are you there');
    await expect.poll(() => watch.frames.find(({ opcode }) => opcode === 10)?.payload.toString()).toBe('are you there');
    watch.send(8, Buffer.from([0x03, 0xe9]));
    expect(await watch.closed()).toEqual([1001, '']);
    await expect.poll(() => stand.cluster.evidence.openWatches()).toBe(0);
  });

  test('KD-32 ends with 1002 for a client that does not mask', async () => {
    stand.rights.grant(IN);
    const watch = await SocketWatch.open();
    watch.connection.socket.write(Buffer.from([0x81, 0x01, 0x61]));
    expect(await watch.closed()).toEqual([1002, '']);
  });

  test('KD-32 tells of another scope by an ERROR 410, and ends', async () => {
    stand.rights.grant(IN);
    const watch = await SocketWatch.open();
    await expect.poll(() => watch.story.length).toBe(2);
    stand.rights.grant(OUT);
    await stand.clock.advance(10_000);
    expect(await watch.closed()).toEqual([1000, '']);
    expect(watch.story.at(-1)).toBe('ERROR 410');
  });

  test('KD-32 a client that leaves ends the watch at the cluster', async () => {
    stand.rights.grant(IN);
    const watch = await SocketWatch.open();
    await expect.poll(() => stand.cluster.evidence.openWatches()).toBe(1);
    watch.connection.socket.destroy();
    await expect.poll(() => stand.cluster.evidence.openWatches()).toBe(0);
  });

  test('KD-32 is refused by HTTP: from a version of another scope with 410, and without any namespace with the 403 of the cluster', async () => {
    stand.rights.grant(IN);
    const version = await listed();
    stand.rights.grant(OUT);
    expect((await SocketWatch.open(`/api/v1/pods?watch=1&resourceVersion=${version}`)).head).toMatch(
      /^HTTP\/1\.1 410 /,
    );
    stand.rights.revokeAll();
    expect((await SocketWatch.open()).head).toMatch(/^HTTP\/1\.1 403 /);
  });

  test('KD-30 by a caller with the right over the whole cluster is passed on', async () => {
    stand.rights.grant(IN);
    stand.rights.isEverywhere = true;
    expect((await SocketWatch.open()).head).toMatch(/^HTTP\/1\.1 403 /); // the cluster's own answer: the right is only the authorizer's here
  });
});
