import { expect, test } from 'vitest';
import { podObject, startKinds } from './kinds-stand.ts';

test('two watches of other namespaces never share an event, nor with one over all namespaces', async () => {
  const stand = await startKinds();
  stand.allow('red');
  stand.allow('green');
  const all = await stand.watch('pods?watch=true');
  const red = await stand.watch('namespaces/red/pods?watch=true', 'joe');
  const green = await stand.watch('namespaces/green/pods?watch=true', 'joe');
  const seen = (): string[] => [red, green].map(({ text }) => [...new Set(text.match(/"namespace":"[a-z]+"/g))].join());
  await stand.clock.until(
    () => [all, red, green].every(({ version }) => version !== ''),
    (areAll) => areAll,
  );
  expect(seen()).toEqual(['"namespace":"red"', '"namespace":"green"']);
  stand.cluster.objects.create('pods', podObject('blue', 'late-1'));
  stand.cluster.objects.create('pods', podObject('red', 'late-1'));
  stand.cluster.objects.create('pods', podObject('green', 'late-1'));
  await stand.clock.until(
    () => all.story.filter((line) => line === 'ADDED late-1').length,
    (count) => count === 3,
  );
  await stand.clock.spend(1_000);
  expect(seen()).toEqual(['"namespace":"red"', '"namespace":"green"']);
});
