import { beforeAll, describe, expect, test } from 'vitest';
import { inNamespace, type Json, path } from './api-client.ts';
import { failure, type Suite } from './suite.ts';

const LIST_TOO_OLD = 'The resourceVersion for the provided list is too old.';
const CONTINUE_TOO_OLD =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without ' +
  'the continue parameter, or use the continue token in this response to retrieve the remainder of the results. ' +
  'Continuing with the provided token results in an inconsistent list - objects that were created, modified, or ' +
  'deleted between the time the first chunk was returned and now may show up in the list.';

export function describeExpiry(suite: Suite): void {
  describe('an expired version', () => {
    let secrets: string;
    let expired: { resourceVersion: string; continue: string };
    beforeAll(async () => {
      secrets = inNamespace(await suite.api.newNamespace(), 'secrets');
      for (const name of ['a', 'b', 'c']) await suite.api.create(secrets, { metadata: { name } });
      expired = (await suite.api.get(path(secrets, { limit: 1 }))).body.metadata;
      await suite.api.delete(`${secrets}/b`);
      await suite.api.create(secrets, { metadata: { name: 'd' } });
      await suite.target.compact();
    });

    // The HTTP status is 200, because the stream is open before the server looks into its history.
    test('ends a watch with an ERROR event 410 under HTTP 200', async () => {
      const { resourceVersion } = expired;
      const stream = await suite.api.watch(path(secrets, { watch: 'true', resourceVersion }));
      expect(stream.status).toBe(200);
      const message = expect.stringMatching(new RegExp(`^too old resource version: ${resourceVersion} \\(\\d+\\)$`));
      expect(await stream.rest()).toEqual([{ type: 'ERROR', object: failure(410, 'Expired', message) }]);
    });

    test('in a continue token is 410 with a token to go on inconsistently', async () => {
      const { status, body } = await suite.api.get(path(secrets, { limit: 1, continue: expired.continue }));
      expect(status).toBe(410);
      expect(body).toEqual({
        ...failure(410, 'Expired', CONTINUE_TOO_OLD),
        metadata: { continue: expect.any(String) },
      });
      const rest = await suite.api.get(path(secrets, { limit: 2, continue: body.metadata.continue }));
      expect(rest.body.items.map((item: Json) => item.metadata.name)).toEqual(['c', 'd']);
      expect(BigInt(rest.body.metadata.resourceVersion)).toBeGreaterThan(BigInt(expired.resourceVersion));
    });

    test.each([{ resourceVersionMatch: 'Exact' }, { limit: 1 }])('in an exact list is 410: %o', async (query) => {
      const { resourceVersion } = expired;
      const { status, body } = await suite.api.get(path(secrets, { ...query, resourceVersion }));
      expect(status).toBe(410);
      expect(body).toEqual(failure(410, 'Expired', LIST_TOO_OLD));
    });

    test('is good for a list that may be newer', async () => {
      const { resourceVersion } = expired;
      const { status } = await suite.api.get(path(secrets, { resourceVersion, resourceVersionMatch: 'NotOlderThan' }));
      expect(status).toBe(200);
    });
  });
}
