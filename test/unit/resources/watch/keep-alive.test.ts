import { describe, expect, test } from 'vitest';
import { makeNode } from '../node-objects.ts';
import { changed, makeCache, nextText, openWatch } from './watched-cache.ts';

const FORMS = [
  ['json', undefined],
  ['events', ':\n\n'],
] as const;

const textOf = (bytes: Uint8Array | undefined): string | undefined => bytes && Buffer.from(bytes).toString();

describe.each(FORMS)('what keeps a quiet watch alive, as %s', (form, comment) => {
  /** Told of its first state, and the bookmark of it still to come. */
  function toldFirstState() {
    const cache = makeCache({ usage: false });
    cache.putNode(makeNode('node-a'));
    const watch = openWatch(cache, '', form);
    if (form === 'events') watch.next(); // reset
    expect(nextText(cache, watch)).toContain('"ADDED"');
    return { cache, watch };
  }

  test('is a bookmark where all was told', () => {
    const { cache, watch } = toldFirstState();
    expect(nextText(cache, watch)).toContain('initial-events-end');
    expect(textOf(watch.keepAlive())).toContain('"resourceVersion":"1.1.0.0"}');
  });

  test('is no bookmark before that of the first state', () => {
    const { cache, watch } = toldFirstState();
    expect(textOf(watch.keepAlive())).toBe(comment);
    expect(nextText(cache, watch)).toContain('initial-events-end');
  });

  test('is no bookmark between two batches of changes', () => {
    const { cache, watch } = toldFirstState();
    nextText(cache, watch);
    for (let at = 0; at < 8; at++) cache.putNode(changed(`node-${at}`, { annotations: { note: 'x'.repeat(12_000) } }));
    expect(nextText(cache, watch)).toContain('"ADDED"');
    expect([watch.isBehind, textOf(watch.keepAlive())]).toEqual([true, comment]);
  });
});
