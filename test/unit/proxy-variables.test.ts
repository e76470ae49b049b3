import { describe, expect, test } from 'vitest';
import { environmentProxy } from '../../src/runtime/text/proxy-variables.ts';

const SERVER = 'https://api.example.com:6443';
const proxyOf = (environment: Readonly<Record<string, string>>, server = SERVER): string | undefined =>
  environmentProxy(environment, new URL(server))?.href;

describe('KC-07 the proxy of the environment', () => {
  test.each([
    [{ HTTPS_PROXY: 'http://proxy:3128' }, 'http://proxy:3128/'],
    [{ https_proxy: 'http://proxy:3128' }, 'http://proxy:3128/'],
    [{ HTTPS_PROXY: 'proxy:3128' }, 'http://proxy:3128/'],
    [{ HTTPS_PROXY: 'http://first', https_proxy: 'http://second' }, 'http://first/'],
    [{ HTTPS_PROXY: '', https_proxy: 'http://second' }, 'http://second/'],
    [{ HTTP_PROXY: 'http://proxy' }, undefined],
    [{}, undefined],
  ])('%j is %s for a server with TLS', (environment, expected) => {
    expect(proxyOf(environment as Record<string, string>)).toBe(expected);
  });

  test('is HTTP_PROXY for a server without TLS', () => {
    const environment = { HTTP_PROXY: 'http://plain', HTTPS_PROXY: 'http://tls' };
    expect(proxyOf(environment, 'http://api.example.com')).toBe('http://plain/');
  });

  test.each(['https://localhost:6443', 'https://127.0.0.1:6443', 'https://127.9.9.9', 'https://[::1]:6443'])(
    'is none for %s',
    (server) => {
      expect(proxyOf({ HTTPS_PROXY: 'http://proxy' }, server)).toBeUndefined();
    },
  );

  test.each([
    ['*', SERVER],
    ['other, *', SERVER],
    ['api.example.com', SERVER],
    ['API.Example.com', SERVER],
    ['example.com', SERVER],
    ['.example.com', SERVER],
    ['*.example.com', SERVER],
    ['a.com,example.com', SERVER],
    [' a.com , example.com ', SERVER],
    ['example.com:6443', SERVER],
    ['example.com:443', 'https://example.com'],
    ['example.com:80', 'http://example.com'],
    ['10.0.0.1', 'https://10.0.0.1:6443'],
    ['10.0.0.1:6443', 'https://10.0.0.1:6443'],
    ['10.0.0.0/8', 'https://10.9.9.9:6443'],
    ['10.0.0.1/32', 'https://10.0.0.1'],
    ['0.0.0.0/0', 'https://10.0.0.1'],
    ['fd00::1', 'https://[fd00::1]:6443'],
    ['[fd00::1]:6443', 'https://[fd00::1]:6443'],
    ['fd00::/8', 'https://[fd00::1]'],
    ['fd00::1/128', 'https://[fd00::1]'],
    ['bücher.example', 'https://api.bücher.example'],
    ['BÜCHER.example:443', 'https://xn--bcher-kva.example'],
    ['*.bücher.example', 'https://api.bücher.example'],
    ['::ffff:10.0.0.1', 'https://10.0.0.1'],
    ['10.0.0.0/8', 'https://[::ffff:10.0.0.1]'],
    ['::ffff:10.0.0.0/104', 'https://10.0.0.1'],
    ['example.com:', SERVER],
  ])('NO_PROXY=%s excepts %s', (exceptions, server) => {
    const environment = { HTTPS_PROXY: 'http://proxy', HTTP_PROXY: 'http://proxy' };
    expect(proxyOf({ ...environment, NO_PROXY: exceptions }, server)).toBeUndefined();
    expect(proxyOf({ ...environment, no_proxy: exceptions }, server)).toBeUndefined();
  });

  test.each([
    ['', SERVER],
    ['[fd00::1]', 'https://[fd00::1]:6443'],
    ['fd00::1:443', 'https://[fd00::1]'],
    ['example.com:0443', 'https://example.com'],
    ['example.com:https', 'https://example.com'],
    ['a[b]:443', SERVER],
    ['*.bücher.example', 'https://bücher.example'],
    ['::ffff:10.0.0.0/64', 'https://10.0.0.1'],
    [',', SERVER],
    ['com.example', SERVER],
    ['xample.com', SERVER],
    ['pi.example.com', SERVER],
    ['.api.example.com', SERVER],
    ['*.api.example.com', SERVER],
    ['example.com:443', SERVER],
    [':6443', SERVER],
    ['10.0.0.2', 'https://10.0.0.1:6443'],
    ['0.0.1', 'https://10.0.0.1:6443'],
    ['10.0.0.1:443', 'https://10.0.0.1:6443'],
    ['10.0.0.0/8', 'https://11.0.0.1'],
    ['10.0.0.0/8/8', 'https://10.0.0.1'],
    ['10.0.0.0/33', 'https://10.0.0.0'],
    ['10.0.0.0/x', 'https://10.0.0.1'],
    ['10.0.0.0/', 'https://10.0.0.1'],
    ['fd00::/129', 'https://[fd00::1]'],
    ['fd00::/8', 'https://10.0.0.1'],
    ['10.0.0.0/8', SERVER],
  ])('NO_PROXY=%s does not except %s', (exceptions, server) => {
    expect(proxyOf({ HTTPS_PROXY: 'http://proxy', NO_PROXY: exceptions }, server)).toBe('http://proxy/');
  });

  test('is refused where it cannot be used, and never quoted', () => {
    for (const address of ['https://u:canary@p', 'socks5://u:canary@p', 'http://u:canary%@p', 'canary canary']) {
      const read = (): unknown => proxyOf({ HTTPS_PROXY: address });
      expect(read).toThrow(/^(names a proxy with|has no valid proxy address)/);
      expect(read).not.toThrow('canary');
    }
  });

  test('is refused for a server without TLS where a request may have set it', () => {
    const environment = { HTTP_PROXY: 'http://proxy', HTTPS_PROXY: 'http://proxy', REQUEST_METHOD: 'GET' };
    expect(() => proxyOf(environment, 'http://api.example.com')).toThrow(/^has HTTP_PROXY and REQUEST_METHOD/);
    expect(proxyOf(environment)).toBe('http://proxy/');
  });

  test('is not looked at where it is excepted', () => {
    expect(proxyOf({ HTTPS_PROXY: 'socks5://p', NO_PROXY: '*' })).toBeUndefined();
  });
});
