import { ASK_FOR_MEMORY } from './memory.ts';

/**
 * Loaded into a server under measurement (`--import`), before its program. Reports its memory after a collection of all garbage. The
 * second collection takes what finalizers of the first one let go.
 */
process.on('message', (message) => {
  if (message !== ASK_FOR_MEMORY) return;
  globalThis.gc?.();
  setImmediate(() => {
    globalThis.gc?.();
    const { heapUsed, arrayBuffers, rss } = process.memoryUsage();
    process.send?.({ heapUsed, arrayBuffers, rss });
  });
});
process.channel?.unref();
