import { expect, test } from 'vitest';
import { jsonAccept } from '../../../../src/gateway/permitted/json-accept.ts';

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';

test.each([
  [undefined, 'application/json'],
  [' ', 'application/json'],
  ['*/*', 'application/json'],
  ['application/json', 'application/json'],
  [`${TABLE},application/json`, `${TABLE},application/json`],
  [
    `${TABLE}, ${TABLE.replace('v1', 'v1beta1')}, application/json`,
    `${TABLE},${TABLE.replace('v1', 'v1beta1')},application/json`,
  ],
  ['application/vnd.kubernetes.protobuf,application/json', 'application/json'],
  ['application/vnd.kubernetes.protobuf, */*', 'application/json'],
  [`application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,${TABLE}`, TABLE],
  ['application/cbor,application/json;q=0.9', 'application/json;q=0.9'],
  ['application/json;stream=watch', 'application/json'],
  ['APPLICATION/JSON', 'application/json'],
  ['application/vnd.kubernetes.protobuf', undefined],
  ['application/yaml', undefined],
  ['application/json;q=0', undefined],
  ['text/html', undefined],
])('an Accept of %s asks for %s', (accept, wanted) => {
  expect(jsonAccept(accept)).toBe(wanted);
});
