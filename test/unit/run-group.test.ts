import { describe, expect, test } from 'vitest';
import { type Part, runGroup } from '../../src/service/run-group.ts';

const untilAborted = (name: string, log: string[], endsAfter: () => Promise<void> = async () => {}): Part => ({
  name,
  run: async (signal) => {
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    log.push(`${name} stops`);
    await endsAfter();
    log.push(`${name} ended`);
  },
});

describe('runGroup', () => {
  test('stops every part when the signal aborts', async () => {
    const log: string[] = [];
    const stop = new AbortController();
    const running = runGroup([[untilAborted('a', log), untilAborted('b', log)]], stop.signal);
    stop.abort();
    await running;
    expect(log.sort()).toEqual(['a ended', 'a stops', 'b ended', 'b stops']);
  });

  test('stops a later stage only after the stage before has ended', async () => {
    const log: string[] = [];
    const stop = new AbortController();
    const slow = () => new Promise<void>((resolve) => setImmediate(resolve));
    const running = runGroup([[untilAborted('server', log, slow)], [untilAborted('reflector', log)]], stop.signal);
    stop.abort();
    await running;
    expect(log).toEqual(['server stops', 'server ended', 'reflector stops', 'reflector ended']);
  });

  test('stops the others and throws, naming the part, when one fails', async () => {
    const log: string[] = [];
    const broken: Part = { name: 'broken', run: () => Promise.reject(new Error('a bug')) };
    const running = runGroup([[untilAborted('server', log)], [broken]], new AbortController().signal);
    await expect(running).rejects.toThrow('broken failed');
    expect(log).toEqual(['server stops', 'server ended']);
  });

  test('takes an end that nobody asked for as a failure', async () => {
    const log: string[] = [];
    const quitter: Part = { name: 'quitter', run: async () => {} };
    await expect(runGroup([[untilAborted('server', log), quitter]], new AbortController().signal)).rejects.toThrow(
      'quitter ended by itself',
    );
  });

  test('ends at once when the signal is aborted beforehand', async () => {
    const log: string[] = [];
    await runGroup([[untilAborted('a', log)], [untilAborted('b', log)]], AbortSignal.abort());
    expect(log).toEqual(['a stops', 'a ended', 'b stops', 'b ended']);
  });
});
