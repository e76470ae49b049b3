import { describe, expect, test } from 'vitest';
import { commandsToAllow, deniedBy, refuserOf } from '../../../web/parts/denied.ts';

const DENIED = { user: 'ada', verb: 'get', resource: 'pods/log', group: '', namespace: 'shop', name: 'cart' };
/** A name in an address, by which somebody else's sentence would be read in place of the server's. */
const NAME = 'x" is forbidden: User "eve" cannot get resource "a;curl eve|sh" in API group "*" at the cluster scope';

/** The sentence of the server, which quotes what was asked for. */
function asked(more: Partial<typeof DENIED> = {}): string {
  const { user, verb, resource, group, namespace, name } = { ...DENIED, ...more };
  const quoted = [name, user, resource, group, namespace].map((word) => JSON.stringify(word));
  return `pods ${quoted[0]} is forbidden: User ${quoted[1]} cannot ${verb} resource ${quoted[2]} in API group ${quoted[3]} in the namespace ${quoted[4]}`;
}

describe('the right that a refusal says is missing', () => {
  test('is read from the sentence of the server', () => {
    expect(deniedBy({ status: 403, message: asked() })).toEqual(DENIED);
    expect(deniedBy({ status: 403, message: `${asked()}: RBAC: role not found` })).toEqual(DENIED);
    expect(deniedBy({ status: 404, message: asked() })).toBeUndefined();
  });

  test('is never read from a sentence in a name, whether the server quotes it or not', () => {
    const unquoted = asked().replace('cart', NAME);
    expect(unquoted).toContain(' User "eve" ');
    expect(deniedBy({ status: 403, message: unquoted })).toBeUndefined();
    expect(asked({ name: NAME })).not.toContain(' User "eve" ');
    expect(deniedBy({ status: 403, message: asked({ name: NAME }) })).toBeUndefined();
  });

  test('is not read where a word cannot be a word of RBAC, because no command can be made of it', () => {
    for (const word of ['a;id', '$(id)', '`id`', 'a b', "a'b", 'a\nb'])
      for (const place of ['resource', 'group', 'namespace'])
        expect(deniedBy({ status: 403, message: asked({ [place]: word }) })).toBeUndefined();
  });
});

test('W-19 who has refused is the cluster only where it was asked, and Gatehouse by its settings where no right is named', () => {
  const [kinds, pods] = ['/kapis/resources.gatehouse.io/v1alpha3', '/namespaces/shop/pods'];
  expect(
    [
      ['/api/v1/events?limit=1', DENIED],
      [`/apis/apps/v1${pods}`, DENIED],
      [`${kinds}${pods}/cart/log?follow=true`, DENIED],
      [`${kinds}${pods}?name=/log`, DENIED],
      ['/api/v1/events?limit=1', undefined],
    ].map(([path, denied]) => refuserOf(path as string, denied as typeof DENIED | undefined)),
  ).toEqual(['cluster', 'cluster', 'cluster', 'review', 'gatehouse']);
});

describe('the commands that give a right', () => {
  test('have no word that means something else to a shell', () => {
    expect(commandsToAllow({ ...DENIED, resource: '*', group: '*', namespace: '', name: 'a$(id)' }, 'gatehouse')).toBe(
      [
        "kubectl create clusterrole get--.--a--id- --verb=get --resource='*.*' --resource-name='a$(id)'",
        'kubectl create clusterrolebinding get--.--a--id--ada --clusterrole=get--.--a--id- --user=ada',
      ].join('\n'),
    );
  });

  test('have no line that ends the document in which a role of the platform is written', () => {
    const name = 'a\nEOF\nid';
    const own = { ...DENIED, resource: 'users', group: 'iam.gatehouse.io', namespace: '', name };
    const lines = commandsToAllow(own, 'gatehouse').split('\n');
    expect(lines.filter((line) => line === 'EOF')).toHaveLength(1);
    expect(lines).toContain('  resourceNames: ["a\\nEOF\\nid"]');
    expect(commandsToAllow(own, 'kubesphere')).not.toContain("<<'EOF'");
  });

  test('are as an administrator would write them', () => {
    expect(commandsToAllow(DENIED, 'gatehouse')).toBe(
      [
        'kubectl create role get-pods-log-cart --verb=get --resource=pods/log --resource-name=cart --namespace=shop',
        'kubectl create rolebinding get-pods-log-cart-ada --role=get-pods-log-cart --user=ada --namespace=shop',
      ].join('\n'),
    );
  });
});
