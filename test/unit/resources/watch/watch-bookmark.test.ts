import { describe, expect, test } from 'vitest';
import { makeCache, makeNode, parseNodeWatchQuery } from '../node-objects.ts';

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
  const open = (more: string) => cache.lister.watch(parseNodeWatchQuery(`watch=1${more}`), 'json');
  return { open, put, watch: open(query) };
}

const namesOf = (bytes: Uint8Array | undefined): string[] =>
  (textOf(bytes) ?? '')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line).object.metadata.name);

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

  test('is the version before what is new, then a place in the middle of it, then the version of all', () => {
    const { put, watch } = start('&resourceVersion=e1-12');
    watch.next(); // of the resume
    put('2');
    expect(textOf(watch.bookmark())).toBe(bookmarkOf('1.12.0.0'));
    watch.next();
    expect(textOf(watch.bookmark())).toBe(bookmarkOf('2.12.0.0-1.12.0.0-e1.18'));
    watch.next();
    expect(textOf(watch.bookmark())).toBe(bookmarkOf('2.12.0.0'));
  });

  test('in the middle of what is new is gone on from with the rest of it', () => {
    const { open, put, watch } = start('&resourceVersion=e1-12');
    watch.next();
    put('2');
    const told = namesOf(watch.next());
    const { resourceVersion } = JSON.parse(textOf(watch.bookmark()) ?? '').object.metadata;
    const rest = namesOf(open(`&resourceVersion=${resourceVersion}`).next());
    expect([...told, ...rest]).toEqual(Array.from({ length: 12 }, (_, at) => `node-${at}`));
  });

  test('comes to a reader that never catches up', () => {
    const { put, watch } = start('&resourceVersion=e1-12');
    watch.next();
    for (let version = 2; version < 10; version++) {
      put(`${version}`);
      watch.next();
      expect(textOf(watch.bookmark())).toMatch(new RegExp(`"${version}\\.12\\.0\\.0-1\\.12\\.0\\.0-e1\\.`));
    }
  });

  test('does not wait for what changed in a first state that takes its reader long', () => {
    const { put, watch } = start();
    watch.next();
    put('2');
    watch.next();
    expect(textOf(watch.bookmark())).toBe(
      bookmarkOf('2.12.0.0-1.12.0.0', ',"annotations":{"k8s.io/initial-events-end":"true"}'),
    );
    expect(textOf(watch.next())).toContain('"MODIFIED"');
  });

  test('is none where none is wanted', () => {
    const { watch } = start('&allowWatchBookmarks=false');
    while (watch.next());
    expect(watch.bookmark()).toBeUndefined();
  });
});
