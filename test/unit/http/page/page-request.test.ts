import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { createPageRequestTest } from '../../../../src/http/page/page-request.ts';

const PLAIN = { issuer: 'http://gate.example.com:9090/oauth' };
const SECURE = { issuer: 'https://gate.example.com/oauth' };
const OF_PAGE = { host: 'gate.example.com:9090', 'x-gatehouse-page': '1' };

const isOfPage = (own: { issuer: string }, method: string, headers: Record<string, string>): boolean =>
  createPageRequestTest(
    'gatehouse',
    own,
  )({ method, headers: { ...OF_PAGE, ...headers } } as unknown as IncomingMessage);

describe('a request without Sec-Fetch-Site and Origin', () => {
  test('W-01 is of the page if it reads over plain http', () => {
    expect(['GET', 'HEAD'].map((method) => isOfPage(PLAIN, method, {}))).toEqual([true, true]);
    expect(isOfPage(PLAIN, 'GET', { 'x-gatehouse-page': '' })).toBe(false);
    expect(isOfPage(PLAIN, 'GET', { 'sec-fetch-site': 'cross-site' })).toBe(false);
    expect(isOfPage(PLAIN, 'GET', { origin: 'null' })).toBe(false);
  });

  test('W-01 is not of the page over https, where each browser says where a request comes from', () => {
    expect(isOfPage(SECURE, 'GET', {})).toBe(false);
    expect(isOfPage(SECURE, 'GET', { 'sec-fetch-site': 'same-origin' })).toBe(true);
  });

  test('W-02 is not of the page if it may change something or asks for an upgrade', () => {
    const changing = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter((method) => isOfPage(PLAIN, method, {}));
    expect(changing).toEqual([]);
    expect(isOfPage(PLAIN, 'GET', { upgrade: 'websocket' })).toBe(false);
    expect(isOfPage(PLAIN, 'GET', { upgrade: 'websocket', origin: 'http://gate.example.com:9090' })).toBe(true);
  });
});
