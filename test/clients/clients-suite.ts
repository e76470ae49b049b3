import { beforeAll, describe, expect, test } from 'vitest';
import { type Client, type Line, STEPS, type Step } from './client-program.ts';
import { record } from './results.ts';
import { startStand } from './stand.ts';
import { ALL_NODES, FIRST_NODES, LATER, type Story, tellStories } from './story.ts';

/** What is expected of each step. */
const EXPECTATIONS: Readonly<Record<Step, { title: string; hold: (story: Story) => Promise<void> }>> = {
  'sign-in': { title: 'signs in', hold: async ({ signIn }) => expect(await signIn).toMatchObject({ ok: true }) },
  verify: {
    title: 'takes its token by the published keys, and neither a changed one nor one of another key',
    hold: async ({ verify }) => {
      const { own, changed, foreign } = await verify;
      expect(own).toMatchObject({ ok: true, subject: 'ada' });
      expect(changed).toMatchObject({ ok: false });
      expect(foreign).toMatchObject({ ok: false });
    },
  },
  list: {
    title: 'lists the nodes',
    hold: async ({ list }) => expect(sorted(await list)).toEqual(FIRST_NODES),
  },
  watch: {
    title: 'watches over two restarts, and gets each node once',
    hold: async ({ watch }) => expectEachOnce(await watch),
  },
  refresh: {
    title: 'goes on when its token has ended',
    hold: async ({ refresh }) => {
      const { before, statusOfEnded, after } = await refresh;
      expect(before).toMatchObject({ ok: true, token: expect.any(String) });
      expect(statusOfEnded).toBe(401);
      expect(after).toMatchObject({ ok: true });
      expect(after.token).not.toBe(before.token);
      expect(sorted(after)).toEqual([...ALL_NODES].sort());
    },
  },
};

/** Tests of these clients, all of them on one stand. */
export function holdClients(clients: readonly Client[]): void {
  let stories: readonly Story[] = [];
  beforeAll(async () => {
    stories = await tellStories(await startStand(), clients);
  });
  describe.each(clients.map((client, index) => ({ ...client, index })))('$name', ({ name, steps, index }) => {
    for (const step of STEPS.filter((one) => steps.includes(one)))
      test(EXPECTATIONS[step].title, async () => {
        record(name, step, false);
        await EXPECTATIONS[step].hold(stories[index]!);
        record(name, step, true);
      });
  });
}

const sorted = ({ ok, error, nodes = [] }: Line): unknown => (ok ? [...nodes].sort() : error);

/**
 * A RESET says that all is sent again. A server that comes back to the list that the client has sends none: so LATER comes without. One that
 * does not know what happened meanwhile sends it before MEANWHILE, to clients of server-sent events.
 */
function expectEachOnce(lines: readonly Line[]): void {
  const states: string[][] = [[]];
  for (const { type, node = '' } of lines) {
    if (type === 'RESET') states.push([]);
    else states.at(-1)?.push(type === 'ADDED' ? node : `${type} ${node}`);
  }
  const told = states.filter(({ length }) => length > 0).map((names) => [...names].sort());
  const both = [[...FIRST_NODES, LATER].sort(), [...ALL_NODES].sort()];
  const isReset = lines.some(({ type }) => type === 'RESET');
  expect(told).toEqual(isReset ? both : [[...ALL_NODES].sort()]);
}
