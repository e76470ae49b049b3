import { describe, expect, test } from 'vitest';
import { acceptsJson, chooseCoding } from '../../../src/http/accept.ts';

describe('Accept', () => {
  test.each([
    [undefined, true],
    ['', true],
    ['*/*', true],
    ['application/*', true],
    ['application/json', true],
    ['APPLICATION/JSON; charset=utf-8', true],
    ['application/json;q=0.1', true],
    ['text/html, application/xhtml+xml, */*;q=0.8', true],
    ['application/json;as=Table;g=meta.k8s.io;v=v1, application/json', true],
    ['application/json;as=Table;g=meta.k8s.io;v=v1', false],
    ['application/json;as=Table;v=v1;g=meta.k8s.io, text/plain', false],
    ['application/yaml', false],
    ['text/html', false],
    ['application/vnd.kubernetes.protobuf', false],
    ['application/json;q=0', false],
    ['application/json;q=0, */*', false],
    ['*/*;q=0', false],
    ['application/json;q=x', false],
    ['application', false],
    [',', false],
  ])('%s accepts JSON: %s', (accept, expected) => {
    expect(acceptsJson(accept)).toBe(expected);
  });
});

describe('Accept-Encoding', () => {
  test.each([
    [undefined, 'identity'],
    ['', 'identity'],
    ['identity', 'identity'],
    ['br', 'identity'],
    ['gzip;q=0', 'identity'],
    ['gzip;q=0, *', 'identity'],
    ['identity, gzip;q=0.5', 'identity'],
    ['gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['x-gzip', 'gzip'],
    ['*', 'gzip'],
    ['gzip;q=0.5', 'gzip'],
    ['br;q=1, gzip;q=0.8, *;q=0.1', 'gzip'],
    ['gzip, deflate, br, zstd', 'gzip'],
    ['identity;q=0.5, gzip', 'gzip'],
  ])('NC-04 %s is answered in %s', (accepted, coding) => {
    expect(chooseCoding(accepted)).toBe(coding);
  });
});
