import { expect, test } from 'vitest';
import { withdrawnLogRoutes } from '../../../../src/http/documents/withdrawn.ts';

const BASE = '/kapis/logging.gatehouse.io/v1alpha2';
const SEARCH = 'this endpoint was removed in release 3.4; use GET /kapis/tenant.gatehouse.io/v1alpha2/logs';
const SETTINGS =
  'this endpoint was removed in release 3.4; log collection is configured in the cluster, not through this server';

test.each([
  ['/workspaces/{workspace}', ['w'], ['GET'], SEARCH],
  ['/namespaces/{namespace}', ['a&b'], ['GET'], `${SEARCH}?namespaces=a%26b`],
  ['/namespaces/{namespace}/workloads/{workload}', ['d', 'w'], ['GET'], `${SEARCH}?namespaces=d&workloads=w`],
  ['/namespaces/{namespace}/pods/{pod}', ['d', 'p'], ['GET'], `${SEARCH}?namespaces=d&pods=p`],
  ['/fluentbit/outputs', [], ['GET', 'POST'], SETTINGS],
  ['/fluentbit/outputs/{output}', ['o'], ['PUT', 'DELETE'], SETTINGS],
])('%s of the log endpoints tells the way out by the methods that it had', (path, values, methods, message) => {
  const route = withdrawnLogRoutes('gatehouse').find(({ template }) => template === BASE + path);
  expect(Object.keys(route?.methods ?? {})).toEqual(methods);
  expect(route?.gone?.(values)).toBe(message);
});

test('no other log endpoint is withdrawn', () => {
  expect(withdrawnLogRoutes('gatehouse')).toHaveLength(6);
});
