import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { toHttpLimits } from '../../../src/service/http-options.ts';
import { OK } from '../../support/recording-upstream.ts';
import { parseAnswer, statusText } from '../http/raw-answer.ts';
import { type GatewayUnderTest, HEAD, startGateway } from './gateway-under-test.ts';
import { RawConnection } from './raw-connection.ts';

const WEBSOCKET =
  'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n';
const YES = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n';
const POD = '/api/v1/namespaces/a/pods/p';
const LIST = '/kapis/resources.gatehouse.io/v1alpha3/nodes';
const TOO_LONG = 'its request line, with the command of an exec in it, and its headers are over';

const limitsOf = (text: string) => toHttpLimits(loadConfig(text === '' ? undefined : 'c.yaml', () => text).config);

let app: GatewayUnderTest;
let lower: GatewayUnderTest;
beforeAll(async () => {
  app = await startGateway({ limits: limitsOf('gateway: {enabled: true}') });
  lower = await startGateway({ limits: limitsOf('gateway: {enabled: true}\nlimits: {maxHeaderBytes: 8192}') });
});
afterAll(async () => {
  await app?.stop();
  await lower?.stop();
});

const message = (fault: string): string =>
  statusText(431, 'RequestHeaderFieldsTooLarge', `the request is malformed: ${fault}`);

describe('long request lines and headers', () => {
  test.each([
    ['exec', `?command=sh&command=-c&command=${'a'.repeat(40 * 1024)}`],
    ['attach', `?container=${'a'.repeat(40 * 1024)}`],
    ['portforward', `?ports=${'1,'.repeat(20 * 1024)}`],
  ])('A-09 HL-01 an upgrade for %s with 40 KiB reaches the cluster whole', async (what, query) => {
    app.upstream.answer = () => YES;
    const target = `${POD}/${what}${query}`;
    const client = await RawConnection.open(app.port, `GET ${target} HTTP/1.1\r\n${HEAD}${WEBSOCKET}\r\n`);
    expect(await client.until(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 101 /);
    expect(app.upstream.last.line).toBe(`GET ${target} HTTP/1.1`);
    for (const socket of app.upstream.open) socket.destroy();
    client.socket.destroy();
  });

  test('A-09 HL-01 an exec of 2,000 words is passed on', async () => {
    app.upstream.answer = () => YES;
    const target = `${POD}/exec?${'command=word&'.repeat(2_000)}stdout=true`;
    const client = await RawConnection.open(app.port, `GET ${target} HTTP/1.1\r\n${HEAD}${WEBSOCKET}\r\n`);
    expect(await client.until(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 101 /);
    for (const socket of app.upstream.open) socket.destroy();
    client.socket.destroy();
  });

  test.each([
    ['a list with a selector', `/apis/apps/v1/deployments?labelSelector=${'a%3Db%2C'.repeat(3_800)}c`],
    ['an absolute target', `http://gatehouse.example/api/v1/pods?labelSelector=${'a%3Db%2C'.repeat(3_800)}c`],
  ])('A-09 HL-01 %s of 30 kB is passed on', async (_, target) => {
    app.upstream.answer = () => OK;
    const answer = parseAnswer(await app.raw(`GET ${target} HTTP/1.1\r\n${HEAD}Connection: close\r\n\r\n`));
    expect(answer.status).toBe(200);
    expect(app.upstream.last.line).toBe(`GET ${target.replace('http://gatehouse.example', '')} HTTP/1.1`);
  });

  test('A-09 HE-431 above 64 KiB the refusal names the command and the setting', async () => {
    const target = `${POD}/exec?command=${'a'.repeat(66_000)}`;
    const answer = parseAnswer(await app.raw(`GET ${target} HTTP/1.1\r\n${HEAD}${WEBSOCKET}\r\n`));
    expect([answer.status, answer.body]).toEqual([431, message(`${TOO_LONG} 65536 bytes (limits.maxHeaderBytes)`)]);
    expect(answer.headers.get('connection')).toBe('close');
  });

  test.each([
    ['a header of a list of ours', LIST, `X: ${'a'.repeat(20 * 1024)}\r\n`],
    ['a query of a list of ours', `${LIST}?name=${'a'.repeat(20 * 1024)}`, ''],
    ['many headers of a path that nothing is served on', '/apix/v1', `X: ${'a'.repeat(1_000)}\r\n`.repeat(20)],
    ['an upgrade', LIST, `${WEBSOCKET}X: ${'a'.repeat(20 * 1024)}\r\n`],
    ['a form', '/oauth/token', `X: ${'a'.repeat(20 * 1024)}\r\n`],
  ])('A-09 HE-431 elsewhere 16 KiB are the limit: %s', async (_, target, headers) => {
    const before = await app.metric('gatehouse_http_rejections_total', { reason: 'header_bytes' });
    const answer = parseAnswer(await app.raw(`GET ${target} HTTP/1.1\r\n${HEAD}${headers}\r\n`));
    expect(answer.status).toBe(431);
    expect(answer.body).toContain('its header is over 16384 bytes (limits.maxHeaderBytes)');
    expect(answer.headers.get('connection')).toBe('close');
    expect(await app.metric('gatehouse_http_rejections_total', { reason: 'header_bytes' })).toBe(before + 1);
  });

  test('A-09 tiny header lines that never end are refused at the 201st, with the sentence of the 101st', async () => {
    for (const line of ['a:b', 'abc:', 'a:']) {
      const answer = parseAnswer(await app.raw(`GET ${LIST} HTTP/1.1\r\n${HEAD}${`${line}\r\n`.repeat(220)}`));
      expect([answer.status, answer.body]).toEqual([431, message('it has more than 100 header lines')]);
    }
  });

  test('A-09 HL-01 a configured limit holds for all paths', async () => {
    const exec = `${POD}/exec?command=${'a'.repeat(9_000)}`;
    for (const target of [exec, `${LIST}?name=${'a'.repeat(9_000)}`]) {
      const answer = parseAnswer(await lower.raw(`GET ${target} HTTP/1.1\r\n${HEAD}\r\n`));
      expect([answer.status, answer.body]).toEqual([431, message(`${TOO_LONG} 8192 bytes (limits.maxHeaderBytes)`)]);
    }
  });

  test('A-09 HL-01 the defaults', () => {
    const told = ({ maxHeaderBytes, maxHeaderBytesElsewhere }: ReturnType<typeof limitsOf>) => [
      maxHeaderBytes,
      maxHeaderBytesElsewhere,
    ];
    expect(told(limitsOf(''))).toEqual([16_384, 16_384]);
    expect(told(limitsOf('gateway: {enabled: true}'))).toEqual([65_536, 16_384]);
    expect(told(limitsOf('gateway: {enabled: true}\nlimits: {maxHeaderBytes: 131072}'))).toEqual([131_072, 131_072]);
    expect(told(limitsOf('gateway: {enabled: true}\nlimits: {maxHeaderBytes: 2048}'))).toEqual([2_048, 2_048]);
  });
});
