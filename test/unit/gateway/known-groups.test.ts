import { expect, test } from 'vitest';
import { AUTHENTICATED } from '../../../src/gateway/caller.ts';
import { KnownGroups } from '../../../src/gateway/known-groups.ts';
import { FakeClock } from '../../support/fake-clock.ts';

/** A cluster that knows these groups, and what it was asked. */
function start(...known: readonly string[]) {
  const [asked, leftOut] = [[] as string[][], [] as string[]];
  const groups = new KnownGroups({
    clock: new FakeClock(),
    refusedGroup: async (caller) => {
      asked.push([...caller.groups]);
      return caller.groups.find((group) => !known.includes(group));
    },
    onLeftOut: (group) => void leftOut.push(group),
  });
  const of = async (...all: readonly string[]) => (await groups.of({ name: 'ada', groups: all })).groups;
  return { of, asked, leftOut };
}

test('each group that is left out is told once, whether the cluster refuses it or no header can carry it', async () => {
  const { of, leftOut } = start('ops');
  expect(await of('dev', 'ops', 'größe', AUTHENTICATED)).toEqual(['ops']);
  expect(await of('dev', 'größe')).toEqual([]);
  expect(leftOut.sort()).toEqual(['dev', 'größe']);
});

test('no more than 1,000 groups are told', async () => {
  const { of, leftOut } = start();
  for (let group = 0; group < 1_100; group++) await of(`g${group}`);
  expect([leftOut.length, leftOut.at(-1)]).toEqual([1_000, 'g999']);
});

test('the cluster is not asked about a caller without groups, nor about the one that everybody has', async () => {
  const { of, asked } = start('ops');
  await of(AUTHENTICATED);
  await of('ops', AUTHENTICATED);
  expect(asked).toEqual([['ops']]);
});

test('an answer about a group that the caller is not in ends the questions', async () => {
  const groups = new KnownGroups({
    ...{ clock: new FakeClock(), onLeftOut: () => {} },
    refusedGroup: async () => 'of-somebody-else',
  });
  expect((await groups.of({ name: 'ada', groups: ['dev'] })).groups).toEqual(['dev']);
});
