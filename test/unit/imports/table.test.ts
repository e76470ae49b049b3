import { posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findingsIn } from '../../imports/check.ts';
import { moduleOf } from '../../imports/read.ts';
import { TABLE } from '../../imports/table.ts';

/** Which of these are forbidden, when a file imports one a line. */
function forbidden(file: string, specifiers: readonly string[]): string[] {
  const source = specifiers.map((specifier) => `import '${specifier}';\n`).join('');
  const findings = findingsIn([moduleOf(file, source)], { ...TABLE, oneWay: [] });
  return findings.map((finding) => specifiers[Number(/:(\d+) imports/.exec(finding)?.[1]) - 1] ?? finding);
}

const ROWS = [...TABLE.base, ...Object.keys(TABLE.ours)];
const LIBRARIES = Object.keys(TABLE.libraries).filter((name) => !/[ *]/.test(name));

const fileOf = (name: string): string => {
  const path = name.replace('*', 'planted');
  return path.endsWith('.ts') ? path : `${path}/deep/planted.ts`;
};
const FILES = [...new Set([...ROWS, ...Object.values(TABLE.ours).flat()].map(fileOf))];
const isIn = (file: string, names: readonly string[] = []): boolean =>
  names.some((name) => file === name || file.startsWith(`${name}/`));

describe.each(ROWS)('the row %s', (row) => {
  const file = fileOf(row);

  test('allows what it names, itself and the base, and forbids all else of ours', () => {
    const others = FILES.filter((other) => other !== file);
    const foreign = others.filter((other) => !isIn(other, [row, ...(TABLE.ours[row] ?? []), ...TABLE.base]));
    const specifierOf = (other: string): string => `./${posix.relative(posix.dirname(file), other)}`;
    expect(forbidden(file, others.map(specifierOf))).toEqual(foreign.map(specifierOf));
  });

  test('has the libraries that are at home in it, and no part of another', () => {
    const foreign = LIBRARIES.filter((name) => !isIn(file, TABLE.libraries[name]) && !isIn(file, TABLE.libraries['*']));
    const wholeAndPart = (names: readonly string[]): string[] => names.flatMap((name) => [name, `${name}/deep.js`]);
    expect(forbidden(file, wholeAndPart(LIBRARIES))).toEqual(wholeAndPart(foreign));
  });
});

/** What the table means, said without it: a row that is loosened by mistake forbids less than this. */
test.each([
  ['src/config/a.ts', '../observability/logger.ts'],
  ['src/observability/a.ts', '../kubernetes/reflector/reflector.ts'],
  ['src/kubernetes/a.ts', '../nodes/node-store.ts'],
  ['src/kubernetes/a.ts', '../observability/metrics.ts'],
  ['src/nodes/a.ts', '../http/answer/answer.ts'],
  ['src/users/a.ts', '../oauth/endpoints/grant.ts'],
  ['src/oauth/a.ts', '../kubernetes/secrets/secrets.ts'],
  ['src/oauth/a.ts', '../users/password-hash.ts'],
  ['src/authentication/a.ts', '../kubernetes/token-reviews.ts'],
  ['src/authorization/a.ts', '../http/answer/answer.ts'],
  ['src/http/routes/a.ts', '../../kubernetes/client/api-client.ts'],
  ['src/http/a.ts', '../config/config.ts'],
  ['src/http/a.ts', '../service/service.ts'],
  ['src/http/a.ts', '../../test/support/fake-clock.ts'],
  ['src/service/a.ts', '../../dev/demo.ts'],
  ['src/runtime/a.ts', '../service/ports.ts'],
  ['src/runtime/a.ts', '../observability/logger.ts'],
  ['dev/a.ts', '../test/support/fake-clock.ts'],
  ['src/http/a.ts', 'jose'],
  ['src/http/a.ts', 'yaml'],
  ['src/oauth/a.ts', 'express'],
  ['src/oauth/a.ts', 'zod'],
  ['src/nodes/a.ts', 'undici'],
  ['src/nodes/a.ts', 'prom-client'],
  ['src/nodes/a.ts', '@kubernetes/client-node'],
  ['src/kubernetes/a.ts', 'pino'],
  ['src/authentication/a.ts', '@node-rs/bcrypt'],
  ['src/service/a.ts', 'express'],
  ['src/runtime/a.ts', 'prom-client'],
  ['dev/a.ts', 'express'],
])('%s may not import %s', (file, specifier) => {
  expect(forbidden(file, [specifier])).toEqual([specifier]);
});
