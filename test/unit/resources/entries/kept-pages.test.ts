import { describe, expect, test } from 'vitest';
import { makeCache, makeNode, parseNodeListQuery } from '../node-objects.ts';

describe('the pages of one version', () => {
  test('are kept, the newest thirty-two of them', () => {
    const { lister, putNode } = makeCache();
    for (let at = 0; at < 40; at++) putNode(makeNode(`node-${at}`));
    const pageOf = (page: number) => lister.list(parseNodeListQuery(`limit=1&page=${page}`));
    const pages = Array.from({ length: 32 }, (_, at) => pageOf(at + 1));
    expect(pages.map((page, at) => pageOf(at + 1) === page)).not.toContain(false);
    const last = pageOf(33);
    expect([pageOf(33) === last, pageOf(2) === pages[1], pageOf(1) === pages[0]]).toEqual([true, true, false]);
  });

  test('are kept up to 256 KiB', () => {
    const { lister, putNode } = makeCache({ usage: false });
    const page = () => lister.list(parseNodeListQuery('limit=1'));
    const put = (length: number) => putNode(makeNode('a', {}, { spec: { note: 'x'.repeat(length) } }));
    put(0);
    const bare = page().identityLength;
    const isKept = (bytes: number): boolean => {
      put(bytes - bare);
      const first = page();
      expect(first.identityLength).toBe(bytes);
      return page() === first;
    };
    expect([isKept(2 ** 18), isKept(2 ** 18 + 1)]).toEqual([true, false]);
  });
});
