import { describe, expect, test } from 'vitest';
import { parseNodeWatchQuery } from '../../../src/nodes/watch-query.ts';
import { makeCache, makeNode } from './node-objects.ts';

const textOf = (bytes: Uint8Array | undefined): string | undefined => bytes && Buffer.from(bytes).toString();

/** Twelve nodes: two batches. */
function start(query = '') {
  const cache = makeCache();
  const put = (version: string) => {
    for (let at = 0; at < 12; at++) {
      cache.putNode(makeNode(`node-${at}`, { resourceVersion: version }, { spec: { note: 'x'.repeat(12_000) } }));
    }
    cache.lister.refresh();
  };
  put('1');
  return { put, watch: cache.lister.watch(parseNodeWatchQuery(`watch=1${query}`), 'json') };
}

const bookmarkOf = (version: string, rest = '') =>
  `{"type":"BOOKMARK","object":{"kind":"Node","apiVersion":"v1","metadata":{"resourceVersion":"${version}"${rest}}}}\n`;

describe('the bookmark of a watch', () => {
  test('is none in the middle of a first state, and ends it once all of it was told', () => {
    const { watch } = start();
    for (let batch = 0; batch < 2; batch++) {
      expect(watch.bookmark()).toBeUndefined();
      watch.next();
    }
    expect(textOf(watch.bookmark())).toBe(
      bookmarkOf('1.12.0.0', ',"annotations":{"k8s.io/initial-events-end":"true"}'),
    );
    expect(watch.next()).toBeUndefined();
    expect(textOf(watch.bookmark())).toBe(bookmarkOf('1.12.0.0'));
  });

  test('is the version before what is new, then none until all of that was told', () => {
    const { put, watch } = start('&resourceVersion=e1-12');
    watch.next(); // of the resume
    put('2');
    expect(textOf(watch.bookmark())).toBe(bookmarkOf('1.12.0.0'));
    watch.next();
    expect(watch.bookmark()).toBeUndefined();
    watch.next();
    expect(textOf(watch.bookmark())).toBe(bookmarkOf('2.12.0.0'));
  });

  test('does not wait for what changed in a first state that takes its reader long', () => {
    const { put, watch } = start();
    watch.next();
    put('2');
    watch.next();
    expect(textOf(watch.bookmark())).toBe(
      bookmarkOf('2.0-1.12.0.0', ',"annotations":{"k8s.io/initial-events-end":"true"}'),
    );
    expect(textOf(watch.next())).toContain('"MODIFIED"');
  });

  test('is none where none is wanted', () => {
    const { watch } = start('&allowWatchBookmarks=false');
    while (watch.next());
    expect(watch.bookmark()).toBeUndefined();
  });
});
