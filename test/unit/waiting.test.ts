import { describe, expect, test, vi } from 'vitest';
import { endWaits, waitFor } from '../support/waiting.ts';

/** Counts its turns. */
function start() {
  const state = { turns: 0, lost: undefined as string | undefined };
  const turn = async (): Promise<void> => {
    state.turns++;
  };
  return { state, turn, read: () => state.turns };
}

describe('a wait', () => {
  test('answers the value that is so, and makes no turn more', async () => {
    const { state, turn, read } = start();
    expect(await waitFor(read, (value) => value >= 3, { turn, looks: 10 })).toBe(3);
    expect(state.turns).toBe(3);
  });

  test('in vain says what it waited for and what there was', async () => {
    const { turn, read } = start();
    const waiting = waitFor(read, (value) => value > 20, { turn, looks: 10, saw: () => ['a line'] });
    await expect(waiting).rejects.toThrow(
      '10 looks were in vain: waited for (value) => value > 20; there was [10,["a line"]]',
    );
  });

  test('for a condition alone shows the condition', async () => {
    const { state, turn } = start();
    const waiting = waitFor(() => state.turns === -1, Boolean, { turn, looks: 1 });
    await expect(waiting).rejects.toThrow('waited for () => state.turns === -1; there was false');
  });

  test('ends once the fact cannot come any more', async () => {
    const { state, turn, read } = start();
    const lost = () => (state.turns === 2 ? 'the socket has closed' : undefined);
    await expect(waitFor(read, (value) => value > 5, { turn, lost })).rejects.toThrow(
      'the socket has closed: waited for (value) => value > 5; there was 2',
    );
  });

  test('takes a fact that came before that', async () => {
    const { state, turn } = start();
    const lost = () => {
      state.turns = 9;
      return 'the socket has closed';
    };
    expect(
      await waitFor(
        () => state.turns,
        (value) => value === 9,
        { turn, lost },
      ),
    ).toBe(9);
  });

  test('has a limit of time for what hangs', async () => {
    const { turn, read } = start();
    await expect(waitFor(read, () => false, { turn, limitMs: 0 })).rejects.toThrow(/^0 s were in vain: /);
  });

  test('ends with its test, and says so', async () => {
    const { turn, read } = start();
    const printed = vi.spyOn(console, 'error').mockReturnValue();
    const waiting = waitFor(read, (value) => value < 0, { turn: () => turn().then(() => new Promise(setImmediate)) });
    const rejected = expect(waiting).rejects.toThrow('the test has ended: waited for (value) => value < 0');
    await new Promise(setImmediate);
    endWaits();
    await rejected;
    expect(printed).toHaveBeenCalledWith(
      expect.stringMatching(/^the test ended while it waited for \(value\) => value < 0; there was \d+$/),
    );
  });
});
