import { beforeAll, describe, expect, test } from 'vitest';
import { inNamespace, type Json, NODES, path, unique } from './api-client.ts';
import { failure, type Suite } from './suite.ts';

const names = (list: Json): string[] => list.items.map((item: Json) => item.metadata.name);

export function describeSelectors(suite: Suite): void {
  describe('a label selector', () => {
    let secrets: string;
    beforeAll(async () => {
      secrets = inNamespace(await suite.api.newNamespace(), 'secrets');
      const labels = { a: { tier: 'web', zone: 'x' }, b: { tier: 'db', zone: 'x' }, c: { tier: 'web' }, d: {} };
      for (const [name, own] of Object.entries(labels))
        await suite.api.create(secrets, { metadata: { name, labels: own } });
    });

    test.each([
      ['tier=web', ['a', 'c']],
      ['tier==web', ['a', 'c']],
      ['tier!=web', ['b', 'd']], // what lacks the label matches too
      ['tier in (web, db)', ['a', 'b', 'c']],
      ['tier notin (web)', ['b', 'd']],
      ['zone', ['a', 'b']],
      ['!zone', ['c', 'd']],
      ['tier=web,zone', ['a']],
      ['tier=', []],
      ['', ['a', 'b', 'c', 'd']],
    ])('"%s" selects %j', async (labelSelector, expected) => {
      expect(names((await suite.api.get(path(secrets, { labelSelector }))).body)).toEqual(expected);
    });

    test.each(['a b', '=x', 'a in web', 'a=b,'])('"%s" is refused', async (labelSelector) => {
      const { status, body } = await suite.api.get(path(secrets, { labelSelector }));
      expect({ status, body }).toMatchObject({ status: 400, body: { reason: 'BadRequest', code: 400 } });
    });
  });

  describe('a field selector', () => {
    let pods: string;
    let node: string;
    beforeAll(async () => {
      pods = inNamespace(await suite.api.newNamespace(), 'pods');
      node = unique('node');
      for (const [name, nodeName, phase] of [
        ['waiting', '', 'Pending'],
        ['running', node, 'Running'],
        ['done', node, 'Succeeded'],
        ['broken', node, 'Failed'],
      ] as const) {
        const containers = [{ name: 'main', image: 'example.test/image' }];
        await suite.api.create(pods, { metadata: { name }, spec: { containers, ...(nodeName && { nodeName }) } });
        await suite.api.patch(`${pods}/${name}/status`, { status: { phase } });
      }
    });
    const select = async (fieldSelector: string): Promise<Json> =>
      (await suite.api.get(path(pods, { fieldSelector }))).body;

    test.each([
      ['metadata.name=done', ['done']],
      ['metadata.name!=done', ['broken', 'running', 'waiting']],
      ['spec.nodeName=', ['waiting']],
      ['spec.nodeName!=', ['broken', 'done', 'running']],
      ['status.phase=Running', ['running']],
      ['status.phase==Running', ['running']],
      ['spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed', ['running']],
      ['status.phase=running', []], // values are exact
    ])('"%s" selects %j of the pods', async (selector, expected) => {
      expect(names(await select(selector))).toEqual(expected);
    });

    test('on spec.nodeName selects the pods of one node', async () => {
      expect(names(await select(`spec.nodeName=${node},metadata.name!=done`))).toEqual(['broken', 'running']);
    });

    test('on a name selects one node', async () => {
      await suite.api.create(NODES, { metadata: { name: node } });
      const { body } = await suite.api.get(path(NODES, { fieldSelector: `metadata.name=${node}` }));
      expect(names(body)).toEqual([node]);
    });

    test('on a field that the kind does not offer is refused', async () => {
      expect(await select('spec.image=x')).toEqual(
        failure(400, 'BadRequest', expect.stringContaining('field label not supported: spec.image')),
      );
    });
  });
}
