import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { type InFlight, Pipeline } from '../../../../src/http/connection/pipeline.ts';

const KIB = 1024;

/** One that came when so much of its connection had been read. */
function requestAt(bytesRead: number, complete = true): InFlight & { readonly socket: { bytesRead: number } } {
  const socket = { bytesRead };
  const request = { socket, complete, resume: () => {} } as unknown as IncomingMessage;
  return { request, response: {} as ServerResponse, socket };
}

/** How many of these it holds. */
function heldOf(pipeline: Pipeline, requests: readonly InFlight[]): number {
  return requests.filter((request) => pipeline.add(request) === 'held').length;
}

const bare = (count: number): InFlight[] => Array.from({ length: count }, () => requestAt(0));

describe('requests that wait on a connection', () => {
  test('are 192 at most, and none after the first that is too many', () => {
    const pipeline = new Pipeline({ takenBytes: 0 });
    expect(heldOf(pipeline, bare(193))).toBe(192);
    for (let left = 192; left > 0; left--) expect(pipeline.next()).toBeDefined();
    expect(pipeline.next()).toBeUndefined();
    expect(pipeline.add(requestAt(0))).toBe('full');
  });

  test('are fewer when their bodies are long', () => {
    const pipeline = new Pipeline({ takenBytes: 0 });
    const forms = Array.from({ length: 100 }, (_, index) => requestAt(index * 64 * KIB));
    expect(heldOf(pipeline, forms)).toBe(6);
  });

  test('make room for others when they are handled', () => {
    const budget = { takenBytes: 0 };
    const pipeline = new Pipeline(budget);
    for (let index = 0; index < 1_000; index++) {
      expect(pipeline.add(requestAt(index * 64 * KIB))).toBe('held');
      if (index > 2) pipeline.next();
    }
    pipeline.clear();
    expect(budget.takenBytes).toBe(0);
  });

  test('are twelve where others have taken the budget of all', () => {
    const budget = { takenBytes: 16 * KIB * KIB };
    const pipeline = new Pipeline(budget);
    expect(heldOf(pipeline, bare(12))).toBe(12);
    expect(pipeline.add(requestAt(0))).toBe('cut');
    pipeline.clear();
    expect(budget.takenBytes).toBe(16 * KIB * KIB);
  });

  test('do not count on after the rest of one did not come', () => {
    const pipeline = new Pipeline({ takenBytes: 0 });
    expect(pipeline.dropIncomplete()).toBe(false);
    const [whole, broken] = [requestAt(0), requestAt(0, false)];
    expect(heldOf(pipeline, [whole, broken])).toBe(2);
    expect(pipeline.dropIncomplete()).toBe(true);
    expect(pipeline.next()?.request).toBe(whole.request);
    expect(pipeline.next()).toBeUndefined();
  });
});
