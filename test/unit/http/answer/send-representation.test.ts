import { describe, expect, test } from 'vitest';
import type { AnswerBody, AnswerHeaders, AnswerWriter } from '../../../../src/http/answer/answer.ts';
import { sendRepresentation } from '../../../../src/http/answer/send-representation.ts';
import type { Representation } from '../../../../src/resources/bytes/representation.ts';
import { fakeExchange } from '../../../support/fake-exchange.ts';

/** A representation of so many bytes, a tenth of them in gzip; `composed`: when its body has been made. */
function representationOf(length: number, composed?: Promise<void>): Representation {
  return {
    etag: (coding) => `"${coding}"`,
    compose: () => composed,
    body: (coding) => ({ pieces: [Buffer.from(coding)], length: coding === 'gzip' ? length / 10 : length }),
    identityLength: length,
  };
}

/** What is sent to a request with these headers. */
function sendTo(headers: Readonly<Record<string, string>>, representation: Representation, staleSeconds?: number) {
  const sent: { status: number; headers: AnswerHeaders; body: string; length: number }[] = [];
  const writer: Pick<AnswerWriter, 'send'> = {
    send: (_exchange, status, own, { pieces, length }: AnswerBody) =>
      sent.push({ status, headers: own, body: Buffer.concat(pieces).toString(), length }),
  };
  const { exchange } = fakeExchange({ headers });
  const done = sendRepresentation(writer as AnswerWriter, exchange, {
    contentType: 'application/json',
    cacheControl: 'private, no-cache',
    staleSeconds,
    representation,
  });
  return { sent, done, exchange };
}

const VALIDATORS = { 'Cache-Control': 'private, no-cache', Vary: 'Accept-Encoding' };

describe('a representation', () => {
  test.each([
    ['identity', {}, 1_024],
    ['identity', { 'accept-encoding': 'gzip' }, 1_023],
    ['gzip', { 'accept-encoding': 'gzip' }, 1_024],
  ] as const)('is sent in the coding %s to %j when it has %3$i bytes', (coding, headers, length) => {
    const { sent, exchange } = sendTo(headers as Record<string, string>, representationOf(length));
    expect(sent).toEqual([
      {
        status: 200,
        headers: {
          'Content-Type': 'application/json',
          ...(coding === 'gzip' && { 'Content-Encoding': 'gzip' }),
          ETag: `"${coding}"`,
          ...VALIDATORS,
        },
        body: coding,
        length: coding === 'gzip' ? length / 10 : length,
      },
    ]);
    expect(exchange.coding).toBe(coding);
  });

  test('says how old its data is where that is to be told', () => {
    const { sent } = sendTo({}, representationOf(1), 300);
    expect(sent[0]?.headers).toMatchObject({ Age: '300', Warning: '110 - "Response is Stale"' });
  });

  test('is sent when its body has been made, and not before', async () => {
    const composed = Promise.withResolvers<void>();
    const { sent, done } = sendTo({}, representationOf(1, composed.promise));
    await new Promise((resolve) => setImmediate(resolve));
    expect(sent).toEqual([]);
    composed.resolve();
    await done;
    expect(sent).toMatchObject([{ status: 200, body: 'identity' }]);
  });

  test('is waited for only where its body has to be made', () => {
    expect(sendTo({}, representationOf(1)).done).toBeUndefined();
  });

  test.each(['"identity"', 'W/"identity"', ' * ', '"other", "identity"', '"other",W/"identity" '])(
    'is not sent to who has it: %s (RFC 9110 13.1.2)',
    (known) => {
      const { sent, done } = sendTo({ 'if-none-match': known }, representationOf(1), 300);
      const stale = { Age: '300', Warning: '110 - "Response is Stale"' };
      expect(sent).toEqual([
        { status: 304, headers: { ETag: '"identity"', ...VALIDATORS, ...stale }, body: '', length: 0 },
      ]);
      expect(done).toBeUndefined();
    },
  );

  test.each(['', '"gzip"', 'identity', '"identity', '"a*"', 'w/"identity"'])(
    'is sent to who has another: %j',
    (known) => {
      expect(sendTo({ 'if-none-match': known }, representationOf(1)).sent).toMatchObject([{ status: 200 }]);
    },
  );
});
