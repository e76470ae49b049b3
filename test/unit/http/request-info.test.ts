import { describe, expect, test } from 'vitest';
import { createRequestInfos, toRequestInfo } from '../../../src/http/request-info.ts';
import { parseTarget, type Target } from '../../../src/http/target.ts';

/** `verb; group/version; namespace; resource/name/subresource`, or `verb; non-resource`: as docs/contract/http.md, section 3.2, writes it. */
function read(method: string, target: string): string {
  const parsed = parseTarget(target, 'host');
  if ('fault' in parsed) return parsed.fault;
  const info = toRequestInfo(method, parsed.segments, parsed.query);
  if ('fault' in info) return info.fault;
  if (!info.isResource) return `${info.verb}; non-resource`;
  const group = info.group === '' ? info.version : `${info.group}/${info.version}`;
  const what = [info.resource, info.name, info.subresource].filter((part) => part !== '').join('/');
  return `${info.verb}; ${group}; ${info.namespace || '–'}; ${what}`;
}

const NODES = '/kapis/resources.gatehouse.io/v1alpha3/nodes';
const NO_SELECTORS = { fieldSelector: '', labelSelector: '' };
const RESOURCES = 'resources.gatehouse.io/v1alpha3';

describe('request info', () => {
  test.each([
    ['HP-01', 'GET', '/api', 'get; non-resource'],
    ['HP-01', 'GET', '/api/v1', 'get; non-resource'],
    ['HP-01', 'GET', '/apis', 'get; non-resource'],
    ['HP-01', 'GET', '/apis/apps', 'get; non-resource'],
    ['HP-01', 'GET', '/apis/apps/v1', 'get; non-resource'],
    ['HP-01', 'GET', '/kapis', 'get; non-resource'],
    ['HP-01', 'GET', '/kapis/x.io', 'get; non-resource'],
    ['HP-01', 'GET', '/kapis/x.io/v1', 'get; non-resource'],
    ['HP-02', 'GET', '/foo/bar', 'get; non-resource'],
    ['HP-02', 'POST', '/oauth/token', 'post; non-resource'],
    ['HP-02', 'POST', '/kapis/foo/bar/', 'post; non-resource'],
    ['HP-03', 'GET', '/kapis/foo/bar/baz', 'list; foo/bar; –; baz'],
    ['HP-04', 'GET', NODES, `list; ${RESOURCES}; –; nodes`],
    ['HP-04', 'HEAD', NODES, `list; ${RESOURCES}; –; nodes`],
    ['HP-04', 'GET', `${NODES}/`, `list; ${RESOURCES}; –; nodes`],
    ['HP-05', 'GET', `${NODES}/n1`, `get; ${RESOURCES}; –; nodes/n1`],
    ['HP-06', 'GET', `/kapis/${RESOURCES}/namespaces/default/pods/p1`, `get; ${RESOURCES}; default; pods/p1`],
    ['HP-07', 'GET', '/api/v1/namespaces', 'list; v1; –; namespaces'],
    ['HP-07', 'GET', '/api/v1/namespaces/default', 'get; v1; default; namespaces/default'],
    ['HP-08', 'GET', '/api/v1/nodes', 'list; v1; –; nodes'],
    ['HP-08', 'GET', '/api/v1/nodes?watch=true', 'watch; v1; –; nodes'],
    ['HP-08', 'GET', '/api/v1/nodes?watch', 'watch; v1; –; nodes'],
    ['HP-08', 'GET', '/api/v1/nodes?watch=abc', 'watch; v1; –; nodes'],
    ['HP-08', 'GET', '/api/v1/nodes?watch=0', 'list; v1; –; nodes'],
    ['HP-08', 'GET', '/api/v1/nodes?watch=False', 'list; v1; –; nodes'],
    ['HP-08', 'GET', '/api/v1/nodes?watch=0&watch=1', 'list; v1; –; nodes'],
    ['HP-08', 'GET', '/api/v1/nodes?rewatch=1', 'list; v1; –; nodes'],
    ['HP-09', 'GET', '/api/v1/nodes?fieldSelector=metadata.name=n1', 'list; v1; –; nodes/n1'],
    ['HP-09', 'GET', '/api/v1/nodes?fieldSelector=metadata.name%3Dn1&watch=1', 'watch; v1; –; nodes/n1'],
    ['HP-09', 'GET', '/api/v1/nodes?fieldSelector=metadata.name==n1', 'list; v1; –; nodes/n1'],
    ['HP-09', 'GET', '/api/v1/nodes?fieldSelector=metadata.name!=n1', 'list; v1; –; nodes'],
    ['HP-09', 'GET', '/api/v1/nodes?fieldSelector=spec.x=a,metadata.name=n1', 'list; v1; –; nodes/n1'],
    ['HP-09', 'GET', '/api/v1/nodes?fieldSelector=spec.x=a', 'list; v1; –; nodes'],
    ['HP-09', 'GET', '/api/v1/nodes?fieldSelector', 'list; v1; –; nodes'],
    ['HP-09', 'GET', '/api/v1/nodes/n2?fieldSelector=metadata.name=n1', 'get; v1; –; nodes/n2'],
    ['HP-09', 'DELETE', '/api/v1/nodes?fieldSelector=metadata.name=n1', 'deletecollection; v1; –; nodes'],
    [
      'HP-09',
      'GET',
      `/api/v1/nodes?fieldSelector=metadata.name=${'n'.repeat(253)}`,
      `list; v1; –; nodes/${'n'.repeat(253)}`,
    ],
    ['HP-09', 'GET', `/api/v1/nodes?fieldSelector=metadata.name=${'n'.repeat(254)}`, 'list; v1; –; nodes'],
    ['HP-09', 'GET', '/api/v1/roles?fieldSelector=metadata.name=system:Node_1', 'list; v1; –; roles/system:Node_1'],
    ['HP-09', 'GET', '/api/v1/nodes?fieldSelector=metadata.name=..', 'list; v1; –; nodes'],
    ['HP-09', 'GET', '/api/v1/nodes?fieldSelector=metadata.name=n%2Fstatus', 'list; v1; –; nodes'],
    ['HP-09', 'GET', '/api/v1/nodes?fieldSelector=metadata.name=n%2500', 'list; v1; –; nodes'],
    ...['%0A', '%0D', '%00', '%09', '%20', '%7F', '%C2%85', '%C2%9B', '%E2%80%A8', '%E2%80%AE', '%EF%BF%BF'].map(
      (unruly) => ['HP-09', 'GET', `/api/v1/nodes?fieldSelector=metadata.name=x${unruly}y`, 'list; v1; –; nodes'],
    ),
    // As the cluster reads the query, and not as its text looks.
    ['HP-22', 'GET', '/api/v1/nodes?%77atch=1', 'watch; v1; –; nodes'],
    ['HP-22', 'GET', '/api/v1/nodes?wat%63h', 'watch; v1; –; nodes'],
    ['HP-22', 'GET', '/api/v1/nodes??watch=0&watch=1', 'watch; v1; –; nodes'],
    ['HP-22', 'GET', '/api/v1/nodes?+watch=1', 'list; v1; –; nodes'],
    ['HP-22', 'GET', '/api/v1/nodes?%66ieldSelector=metadata.name=n1', 'list; v1; –; nodes/n1'],
    ['HP-22', 'GET', '/api/v1/nodes?field%53elector=metadata.n%61me%3Dn1', 'list; v1; –; nodes/n1'],
    ['HP-22', 'GET', '/api/v1/nodes??fieldSelector=metadata.name=n1', 'list; v1; –; nodes'],
    ['HP-22', 'GET', '/api/v1/nodes?fieldSelector=metadata.name=b,metadata.name=a', 'list; v1; –; nodes/a'],
    ['HP-22', 'GET', '/api/v1/nodes?fieldSelector=metadata.name=a%5C,b', 'list; v1; –; nodes/a,b'],
    ['HP-22', 'GET', '/api/v1/nodes?fieldSelector=metadata.name=a%5Cb', 'list; v1; –; nodes'],
    ['HP-22', 'GET', '/api/v1/nodes?fieldSelector=metadata.name=a,x', 'list; v1; –; nodes'],
    ['HP-22', 'GET', '/api/v1/nodes?fieldSelector=metadata.name=n1&labelSelector=a+b', 'list; v1; –; nodes'],
    ['HP-22', 'GET', '/api/v1/nodes?fieldSelector=metadata.name=n1&limit=x', 'list; v1; –; nodes'],
    ['HP-22', 'GET', '/api/v1/watch/nodes?fieldSelector=metadata.name=n1', 'watch; v1; –; nodes'],
    ...['a;b=1&watch=1', 'watch=1;', 'x=%', 'x=%zz', '%ff=1', 'x=%C3&watch=1'].map((query) => [
      'HP-23',
      'GET',
      `/api/v1/nodes?${query}`,
      query.includes(';')
        ? 'the query string has a semicolon that is not encoded'
        : 'the query string is not valid percent-encoded UTF-8',
    ]),
    ['HP-23', 'GET', '/api/v1/nodes?watch=fal%C5%BFe', 'the query parameter "watch" is nearly "false"'],
    ['HP-23', 'GET', `/api/v1/nodes?${'&'.repeat(10_001)}`, 'the query string has more than 64 parameters'],
    ['HP-23', 'GET', `/api/v1/nodes?${'a&'.repeat(65)}`, 'the query string has more than 64 parameters'],
    ['HP-23', 'GET', `/api/v1/nodes?${'a&&'.repeat(63)}watch`, 'watch; v1; –; nodes'],
    ['HP-23', 'DELETE', '/api/v1/nodes?;', 'the query string has a semicolon that is not encoded'],
    // What a named object, a stream of a pod or a proxied server makes of its query is theirs.
    ['HP-23', 'GET', '/api/v1/nodes/n1?x=%&a;b', 'get; v1; –; nodes/n1'],
    ['HP-23', 'GET', '/api/v1/namespaces/d/services/s/proxy/a?a;b', 'get; v1; d; services/s/proxy'],
    ['HP-10', 'GET', '/api/v1/watch/nodes', 'watch; v1; –; nodes'],
    ['HP-10', 'GET', '/api/v1/watch/namespaces/d/pods', 'watch; v1; d; pods'],
    ['HP-10', 'GET', '/api/v1/watch', 'get; non-resource'],
    ['HP-11', 'GET', '/api/v1/proxy/nodes/n1', 'proxy; v1; –; nodes/n1'],
    ['HP-11', 'GET', '/api/v1/proxy/nodes/n1/metrics/cadvisor', 'proxy; v1; –; nodes/n1'],
    ['HP-11', 'GET', '/api/v1/nodes/n1/proxy/metrics', 'get; v1; –; nodes/n1/proxy'],
    ['HP-12', 'POST', '/api/v1/namespaces/d/pods/p/exec', 'create; v1; d; pods/p/exec'],
    ['HP-12', 'GET', '/api/v1/namespaces/d/pods/p/log', 'get; v1; d; pods/p/log'],
    ['HP-13', 'GET', '/api/v1/namespaces/d/services/s/proxy/a/b', 'get; v1; d; services/s/proxy'],
    ['HP-14', 'PUT', '/api/v1/namespaces/d/finalize', 'update; v1; d; namespaces/d/finalize'],
    ['HP-14', 'PUT', '/api/v1/namespaces/d/status', 'update; v1; d; namespaces/d/status'],
    ['HP-15', 'DELETE', '/api/v1/namespaces/d/pods', 'deletecollection; v1; d; pods'],
    ['HP-15', 'DELETE', '/api/v1/namespaces/d/pods/p', 'delete; v1; d; pods/p'],
    ['HP-16', 'PATCH', '/apis/apps/v1/namespaces/d/deployments/x', 'patch; apps/v1; d; deployments/x'],
    ['HP-16', 'PUT', '/apis/apps/v1/namespaces/d/deployments/x/scale', 'update; apps/v1; d; deployments/x/scale'],
    [
      'HP-17',
      'GET',
      '/apis/rbac.authorization.k8s.io/v1/namespaces/d/roles',
      'list; rbac.authorization.k8s.io/v1; d; roles',
    ],
    [
      'HP-17',
      'GET',
      '/apis/cluster.gatehouse.io/v1alpha1/clusters/c',
      'get; cluster.gatehouse.io/v1alpha1; –; clusters/c',
    ],
    [
      'HP-18',
      'GET',
      `/kapis/clusters/c/${RESOURCES}/nodes`,
      'get; clusters/c; –; resources.gatehouse.io/v1alpha3/nodes',
    ],
    [
      'HP-18',
      'GET',
      '/apis/clusters/c/rbac.authorization.k8s.io/v1/clusterroles',
      'get; clusters/c; –; rbac.authorization.k8s.io/v1/clusterroles',
    ],
    ['HP-18', 'GET', '/api/clusters/c/v1/nodes', 'get; clusters; –; c/v1/nodes'],
    ['HP-19', 'GET', `/kapis/${RESOURCES}/workspaces/w/namespaces`, `get; ${RESOURCES}; –; workspaces/w/namespaces`],
    ['HP-20', 'GET', `/kapis/${RESOURCES}/watch/nodes`, `get; ${RESOURCES}; –; watch/nodes`],
  ])('%s reads %s %s', (_, method, target, expected) => {
    expect(read(method, target)).toBe(expected);
  });

  test.each([
    ['/', ''],
    ['/foo/bar', ''],
    ['/kapis/x.io', 'kapis'],
    ['/apis/apps', 'apis'],
    ['/api/v1', 'api'],
    ['/api/v1/watch', 'api'],
  ])('HP-02 reads of %s, which is no resource, nothing but its first word where that is %j', (path, prefix) => {
    const segments = path.split('/').filter((segment) => segment !== '');
    const none = { group: '', version: '', namespace: '', resource: '', name: '', subresource: '', ...NO_SELECTORS };
    expect(toRequestInfo('GET', segments, '')).toEqual({ isResource: false, prefix, verb: 'get', ...none });
  });

  test.each(['kapis', 'apis'])('reads the prefix of a resource under /%s', (prefix) => {
    expect(toRequestInfo('GET', [prefix, 'x.io', 'v1', 'nodes'], '')).toMatchObject({ isResource: true, prefix });
  });

  test('gives a method that Kubernetes has no verb for none', () => {
    expect(toRequestInfo('OPTIONS', ['api', 'v1', 'nodes'], '')).toMatchObject({ verb: '' });
  });

  test.each([
    [
      'GET',
      'x.y=a&labelSelector=b%3Dc&fieldSelector=spec.x%3D1,',
      { fieldSelector: 'spec.x=1,', labelSelector: 'b=c' },
    ],
    ['GET', 'watch=1&labelSelector=(', { fieldSelector: '', labelSelector: '(' }],
    ['DELETE', 'labelSelector=a', { fieldSelector: '', labelSelector: 'a' }],
    ['POST', 'labelSelector=a', { fieldSelector: '', labelSelector: '' }],
  ])('has the selectors of %s …?%s as they were sent', (method, query, selectors) => {
    expect(toRequestInfo(method, ['api', 'v1', 'nodes'], query)).toMatchObject(selectors);
    expect(toRequestInfo(method, ['api', 'v1', 'nodes', 'n1'], query)).toMatchObject(NO_SELECTORS);
    expect(toRequestInfo(method, ['api', 'v1', 'watch', 'nodes'], query)).toMatchObject(NO_SELECTORS);
  });
});

describe('the request information of a target', () => {
  const readTarget = (text: string): Target => {
    const parsed = parseTarget(text, 'host');
    if ('fault' in parsed) throw new Error(parsed.fault);
    return parsed;
  };

  test('is one object for each method, as long as the target is one object', () => {
    const infoOf = createRequestInfos();
    const target = readTarget(`${NODES}/n1`);
    expect(infoOf('GET', target)).toBe(infoOf('GET', target));
    expect(['GET', 'DELETE', 'GET'].map((method) => infoOf(method, target))).toMatchObject([
      { verb: 'get', name: 'n1' },
      { verb: 'delete', name: 'n1' },
      { verb: 'get', name: 'n1' },
    ]);
    expect(infoOf('GET', readTarget(`${NODES}/n2`))).toMatchObject({ verb: 'get', name: 'n2' });
  });

  test('is refused each time where the target cannot be read', () => {
    const infoOf = createRequestInfos();
    const target = readTarget(`${NODES}?a=%`);
    for (let round = 0; round < 2; round++) expect(infoOf('GET', target)).toHaveProperty('fault');
  });
});
