import { describe, expect, test } from 'vitest';
import { wholeBody } from '../../../src/http/answer/answer.ts';
import type { Handler } from '../../../src/http/exchange.ts';
import type { RouteFamily } from '../../../src/http/family.ts';
import { aborted } from '../../../src/runtime/abort.ts';
import type { Family } from '../../../src/service/family.ts';
import { NO_UPKEEP } from '../../../src/service/family.ts';
import { eventually, type Service, startCluster, startService } from './stand.ts';

const GREETINGS = '/kapis/greetings.gatehouse.io/v1/greetings';

const routes: RouteFamily = ({ writer }) => {
  const answer =
    (text: string): Handler =>
    (exchange) =>
      writer.send(exchange, 200, { 'Content-Type': 'text/plain' }, wholeBody(Buffer.from(text)));
  const common = { admission: 'other', produces: 'any' } as const;
  const kind = { kind: 'Greeting', singularName: 'greeting', namespaced: false, shortNames: [] };
  return {
    routes: [
      { ...common, template: '/hello', access: 'public', methods: { GET: answer('hello') } },
      { ...common, template: GREETINGS, access: 'authorized', methods: { GET: answer('good day') }, kind },
    ],
  };
};

/** A family with two routes, a check, a background part and something to close, and the story of what became of it. */
function greetings() {
  const story: string[] = [];
  const state = { isReady: false };
  const make = (): Family => ({
    routes,
    upkeep: {
      ...NO_UPKEEP,
      checks: [
        {
          name: 'greetings-learned',
          endpoints: ['readyz'],
          check: () => (state.isReady ? undefined : 'no greeting is known'),
        },
      ],
      parts: [
        {
          name: 'greeter',
          run: async (signal) => {
            story.push('runs');
            await aborted(signal);
            story.push('has ended');
          },
        },
      ],
    },
    close: async () => void story.push('is closed'),
  });
  return { make, story, state };
}

const start = async (families: Parameters<typeof startService>[1]): Promise<Service> =>
  startService(await startCluster(), { untilReady: false, ...families });

describe('a family that the composition root has never heard of', () => {
  test('serves its routes by their access, and discovery names its kind', async () => {
    const { make, state } = greetings();
    state.isReady = true;
    const service = await start({ families: [make] });
    await eventually(service.readiness, (status) => status === 200);
    expect((await service.call('/hello')).text).toBe('hello');
    expect((await service.call(GREETINGS)).status).toBe(401);
    const [ada, joe] = [await service.signIn('ada'), await service.signIn('joe')];
    expect((await service.call(GREETINGS, { token: ada.access_token })).text).toBe('good day');
    expect((await service.call(GREETINGS, { token: joe.access_token })).status).toBe(403);
    const { body } = await service.call('/kapis/greetings.gatehouse.io/v1', { token: ada.access_token });
    expect(body.resources).toMatchObject([{ name: 'greetings', kind: 'Greeting', verbs: ['list'] }]);
  });

  test('makes the server ready when its check holds', async () => {
    const { make, state } = greetings();
    const service = await start({ families: [make] });
    await eventually(
      async () => (await service.call('/readyz')).body?.details.causes.map(({ field }: { field: string }) => field),
      (failing) => failing?.join() === 'greetings-learned',
    );
    expect((await service.call('/readyz/greetings-learned')).status).toBe(503);
    state.isReady = true;
    expect(await service.readiness()).toBe(200);
  });

  test('runs its part until the end, and is closed behind it', async () => {
    const { make, story } = greetings();
    const service = await start({ families: [make] });
    await eventually(
      () => story,
      ({ length }) => length === 1,
    );
    await service.gatehouse.stop();
    expect(story).toEqual(['runs', 'has ended', 'is closed']);
  });

  test('is closed when a later family cannot be made, and the server does not start', async () => {
    const { make, story } = greetings();
    const broken = (): Family => {
      throw new Error('the next one is broken');
    };
    await expect(start({ families: [make, broken] })).rejects.toThrow('the next one is broken');
    expect(story).toEqual(['is closed']);
  });
});
