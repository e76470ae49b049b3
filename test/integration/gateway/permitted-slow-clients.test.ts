import { expect, test } from 'vitest';
import { OwnReads } from '../../../src/gateway/permitted/own-reads.ts';
import { PermittedLists } from '../../../src/gateway/permitted/permitted-lists.ts';
import { defaultLimits } from '../../support/default-limits.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { OK, type Recorded } from '../../support/recording-upstream.ts';
import { pass, requestOf, startGateway, stopped } from './gateway-under-test.ts';
import { nameOf } from './permitted-under-test.ts';
import { RawConnection } from './raw-connection.ts';

/** Far more than the buffers of both kernels take, and far less than what is sent to a client that takes all. */
const MOST_TAKEN = 64 * 1024 * 1024;

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n';
const item = `{"metadata":{"name":"p","namespace":"${nameOf(1)}","resourceVersion":"6"},"text":"${'x'.repeat(1000)}"}`;
const LIST = {
  begin: '{"kind":"PodList","metadata":{"resourceVersion":"5"},"items":[{"metadata":{}}',
  piece: `,${item}`,
};
const WATCH = { begin: '', piece: `{"type":"MODIFIED","object":${item}}\n` };

/** Answers without end, and counts the bytes that were taken. */
function pourOf({ begin, piece }: { begin: string; piece: string }) {
  const batch = Buffer.from(piece.repeat(1_000));
  const seen: Recorded[] = [];
  const answer = (request: Recorded): string | undefined => {
    if (request.line.includes('/version')) return OK;
    const { socket } = request;
    seen.push(request);
    socket.write(HEAD + begin);
    const pump = (): void => {
      while (!socket.destroyed && socket.write(batch));
    };
    socket.on('drain', pump);
    pump();
    return undefined;
  };
  return {
    answer,
    taken: () => seen.reduce((sum, { socket }) => sum + socket.bytesWritten - socket.writableLength, 0),
  };
}

test.each([
  ['a list as the caller', 2, '/api/v1/pods', LIST],
  ['a list by our own account', 100, '/api/v1/pods', LIST],
  ['a watch', 2, '/api/v1/pods?watch=1', WATCH],
])(
  'KD-32 %s waits for a client that takes nothing, in bounded memory, and is cut off',
  async (_, count, path, poured) => {
    const clock = new FakeClock();
    const names = new Set(Array.from({ length: count }, (__, index) => nameOf(index + 1)));
    const scope = { id: 's', names, has: (name: string) => names.has(name) };
    const slow = await startGateway({
      clock,
      limits: { ...defaultLimits, sendTimeoutMs: 300 },
      authorizer: { authorize: () => ({ allowed: false, source: 'cache' }) },
      permittedLists: ({ gateway, passage }) =>
        new PermittedLists({
          ...{ gateway, clock, scopes: { scopeOf: () => scope }, reads: new OwnReads(passage) },
          kindOf: async () => ({ namespaced: true }),
          isDenied: () => false,
          onNoRight: () => undefined,
        }),
    });
    const { answer, taken } = pourOf(poured);
    slow.upstream.answer = answer;
    const client = await RawConnection.open(slow.port);
    client.socket.pause();
    client.socket.write(requestOf(`GET ${path}`));
    await expect.poll(taken).toBeGreaterThan(0);
    const isCutOff = (): boolean =>
      slow.upstream.requests.every(({ socket, line }) => line.includes('/version') || socket.destroyed);
    await pass(clock, () => isCutOff() || taken() > MOST_TAKEN);
    expect(taken()).toBeLessThan(MOST_TAKEN);
    expect(isCutOff()).toBe(true);
    client.socket.destroy();
    await stopped(slow, clock);
  },
);
