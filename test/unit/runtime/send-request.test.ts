import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { AnswerTooLong, sendRequest } from '../../../src/runtime/send-request.ts';
import { ScriptedDispatcher } from '../kubernetes/client/scripted-dispatcher.ts';

/** One request, and what its sink was fed. `data` of the sink waits for `ready`. */
function begin({ limit = 100, ready }: { limit?: number; ready?: Promise<void> } = {}) {
  const script = new ScriptedDispatcher();
  const controller = new AbortController();
  const fed: string[] = [];
  const sink = {
    start: (status: number) => void fed.push(String(status)),
    data(chunk: Buffer) {
      fed.push(chunk.toString());
      return ready;
    },
  };
  const options = { path: '/', method: 'GET' } as const;
  const maxBytes = (status: number): number => (status === 200 ? limit : 1);
  const done = sendRequest(script.dispatcher, options, { sink, signal: controller.signal, maxBytes });
  return { request: script.last, controller, fed, done };
}

describe('an exchange', () => {
  test('feeds the answer as it comes, without what is said before it, and ends with the body', async () => {
    const { request, fed, done } = begin();
    request.start();
    request.respond(103);
    request.respond(200);
    request.data('a');
    request.data('b');
    request.end();
    await done;
    expect([fed, request.done]).toEqual([['200', 'a', 'b'], []]);
  });

  test('asks for nothing when it was given up before', async () => {
    const script = new ScriptedDispatcher();
    const sink = { start: () => undefined, data: () => undefined };
    const exchanging = { sink, signal: AbortSignal.abort(), maxBytes: () => 1 };
    const options = { path: '/', method: 'GET' } as const;
    await expect(sendRequest(script.dispatcher, options, exchanging)).rejects.toThrow(/^aborted$/);
    expect(script.requests).toEqual([]);
  });

  test('is given up at once while it waits for a connection, and sends nothing when it gets one', async () => {
    const { request, controller, done } = begin();
    controller.abort();
    await expect(done).rejects.toThrow(/^aborted$/);
    request.start();
    expect(request.done).toEqual(['abort: aborted']);
  });

  test('that is given up takes nothing of what still comes', async () => {
    const { request, controller, fed, done } = begin();
    request.start();
    controller.abort();
    await expect(done).rejects.toThrow(/^aborted$/);
    request.respond(200);
    request.data('late');
    request.fail(new Error('late'));
    expect([fed, request.done]).toEqual([[], ['abort: aborted']]);
  });

  test('takes a body of just its limit, and breaks off one that is longer', async () => {
    const whole = begin({ limit: 4 });
    whole.request.start();
    whole.request.respond(200);
    whole.request.data('ab');
    whole.request.data('cd');
    whole.request.end();
    await whole.done;
    const longer = begin({ limit: 4 });
    longer.request.start();
    longer.request.respond(200);
    longer.request.data('ab');
    longer.request.data('cde');
    const error = await longer.done.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(AnswerTooLong);
    expect(String(error)).toBe('AnswerTooLong: the answer is longer than 4 bytes');
    expect([longer.fed, longer.request.done]).toEqual([['200', 'ab'], ['abort: the answer is longer than 4 bytes']]);
  });

  test('has the limit of its status', async () => {
    const { request, done } = begin();
    request.start();
    request.respond(500);
    request.data('ab');
    await expect(done).rejects.toThrow('longer than 1 bytes');
  });

  test('reads nothing more while the sink is busy', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { request, done } = begin({ ready: promise });
    request.start();
    request.respond(200);
    request.data('a');
    expect(request.done).toEqual(['pause']);
    resolve();
    await promise;
    expect(request.done).toEqual(['pause', 'resume']);
    request.end();
    await done;
  });

  test('that ended while the sink was busy is not read on', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { request, controller, done } = begin({ ready: promise });
    request.start();
    request.respond(200);
    request.data('a');
    controller.abort();
    await expect(done).rejects.toThrow('aborted');
    resolve();
    await promise;
    expect(request.done).toEqual(['pause', 'abort: aborted']);
  });

  test('rejects with what broke it off', async () => {
    const { request, done } = begin();
    request.start();
    request.fail(new Error('other side closed'));
    await expect(done).rejects.toThrow('other side closed');
  });

  test('that ended does not hear of a later abort', async () => {
    const { request, controller, done } = begin();
    request.start();
    request.respond(200);
    request.end();
    await done;
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    controller.abort();
    expect(request.done).toEqual([]);
  });
});
