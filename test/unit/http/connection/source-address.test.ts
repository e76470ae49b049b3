import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { createCallerAddress, type TrustedProxy } from '../../../../src/http/connection/source-address.ts';
import { normaliseAddress } from '../../../../src/runtime/source-address.ts';

const request = (remoteAddress: string, headers: Record<string, string> = {}): IncomingMessage =>
  ({ socket: { remoteAddress }, headers }) as unknown as IncomingMessage;

describe('a normalised address', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::ffff:c000:201', '192.0.2.1'],
    ['::FFFF:0a02:0202', '10.2.2.2'],
    ['0:0:0:0:0:ffff:c000:201', '192.0.2.1'],
    ['0000:0000:0000:0000:0000:ffff:192.0.2.1', '192.0.2.1'],
    ['1::ffff:c000:201', '1:0:0:0::/64'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001::1', '2001:db8:1:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['1:2:3::', '1:2:3:0::/64'],
    ['', ''],
  ])('%s is %s', (address, expected) => {
    expect(normaliseAddress(address)).toBe(expected);
  });
});

describe('the source of a request', () => {
  const proxies = [
    { cidr: '10.0.0.0/8', header: 'X-Forwarded-For' },
    { cidr: '2001:db8::/32', header: 'X-Real-IP' },
    { cidr: '192.0.2.7', header: 'x-forwarded-for' },
    { cidr: '192.0.2.8', header: 'X-Client-IP' },
  ];
  const unreadable: TrustedProxy[] = [];
  const addressOf = createCallerAddress(proxies, (proxy) => unreadable.push(proxy));
  const sourceOf = (from: IncomingMessage): string => normaliseAddress(addressOf(from));

  test('A-34 is the socket for a peer that is no proxy, whatever it claims', () => {
    const forged = { 'x-forwarded-for': '198.51.100.1', 'x-real-ip': '198.51.100.1', 'x-client-ip': '198.51.100.1' };
    expect(sourceOf(request('203.0.113.9', forged))).toBe('203.0.113.9');
    expect(createCallerAddress([])(request('10.1.2.3', forged))).toBe('10.1.2.3');
  });

  test('is whole for a login record, without the zone of a link', () => {
    const headers = { 'x-real-ip': '2001:db9:0:1::5' };
    expect(addressOf(request('2001:db8::1', headers))).toBe('2001:db9:0:1::5');
    expect(addressOf(request('fe80::1%eth0'))).toBe('fe80::1');
    expect(addressOf(request('::ffff:203.0.113.9'))).toBe('203.0.113.9');
  });

  test('is the rightmost address that is not trusted', () => {
    const headers = { 'x-forwarded-for': '198.51.100.66, 203.0.113.9, 10.9.9.9' };
    expect(sourceOf(request('10.1.2.3', headers))).toBe('203.0.113.9');
  });

  test('is the leftmost one when every hop is trusted', () => {
    expect(sourceOf(request('10.1.2.3', { 'x-forwarded-for': '10.7.7.7, 10.9.9.9' }))).toBe('10.7.7.7');
  });

  test.each([
    ['203.0.113.7:41234', '203.0.113.7'],
    ['203.0.113.7:', '203.0.113.7'],
    ['[2001:db9::7]', '2001:db9::7'],
    ['[2001:db9::7]:41234', '2001:db9::7'],
    ['[::ffff:203.0.113.7]:443', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['[fe80::7%eth0]:80', 'fe80::7'],
    ['2001:db9::7', '2001:db9::7'],
  ])('A-34 is the address without port and brackets: %s', (claimed, expected) => {
    const from = { 'x-forwarded-for': claimed, 'x-real-ip': claimed, 'x-client-ip': claimed };
    expect(addressOf(request('10.1.2.3', from))).toBe(expected);
    expect(addressOf(request('2001:db8::1', from))).toBe(expected);
    expect(addressOf(request('192.0.2.8', from))).toBe(expected);
  });

  test('A-34 passes over trusted hops that have a port or brackets', () => {
    const hops = '198.51.100.66, 203.0.113.9:4711, 10.9.9.9:443, [2001:db8::5], [2001:db8::6]:8443';
    expect(addressOf(request('10.1.2.3', { 'x-forwarded-for': hops }))).toBe('203.0.113.9');
  });

  test.each([
    'unknown',
    '',
    '203.0.113.9,',
    '203.0.113.9:port',
    '203.0.113.9:123456',
    '[203.0.113.9]',
    '[2001:db9::7',
    '2001:db9::7]',
    '[2001:db9::7]41234',
    '[[2001:db9::7]]',
    '203.0.113.9:1:2',
    '203.0.113.9 198.51.100.1',
    '198.51.100.1, _hidden',
    'unix:',
  ])('A-34 is the socket when the header is "%s", which is reported', (claimed) => {
    unreadable.length = 0;
    expect(sourceOf(request('10.1.2.3', { 'x-forwarded-for': claimed }))).toBe('10.1.2.3');
    expect(unreadable).toEqual([{ cidr: '10.0.0.0/8', header: 'X-Forwarded-For' }]);
  });

  test('is the socket without a report when the proxy sends no header, or the peer is no proxy', () => {
    unreadable.length = 0;
    expect(sourceOf(request('10.1.2.3'))).toBe('10.1.2.3');
    expect(sourceOf(request('203.0.113.9', { 'x-forwarded-for': 'unknown' }))).toBe('203.0.113.9');
    expect(unreadable).toEqual([]);
  });

  test('reads only the header that the proxy is known to send', () => {
    const headers = { 'x-forwarded-for': '198.51.100.1', 'x-real-ip': '2001:db9:0:1::5' };
    expect(sourceOf(request('2001:db8::1', headers))).toBe('2001:db9:0:1::/64');
    expect(sourceOf(request('::ffff:192.0.2.7', headers))).toBe('198.51.100.1');
  });
});
