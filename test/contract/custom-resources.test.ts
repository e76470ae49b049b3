import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { crdDescription } from '../../dev/crd/description.ts';
import { generatedFiles } from '../../dev/crd/files.ts';

const addFormats = addFormatsModule as unknown as (ajv: Ajv2020) => void;

describe('what is made from src/accounts/schema', () => {
  test.each([...generatedFiles()])('%s is as npm run crd:write writes it', (path, text) => {
    expect(readFileSync(path, 'utf8')).toBe(text);
  });
});

describe('the description of the custom resources', () => {
  const text = crdDescription();
  const { info, components } = parse(text) as { info: { version: string }; components: { schemas: object } };

  test('begins so that the release can be put into it', () => {
    expect(/^ {2}version: .*$/m.exec(text)?.[0]).toBe(`  version: ${info.version}`);
  });

  test('validates a user and a login record as the schema does', () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    addFormats(ajv);
    ajv.addSchema({ $id: 'crd', components });
    const isUser = ajv.getSchema('crd#/components/schemas/User') as ValidateFunction;
    const user = { apiVersion: 'iam.gatehouse.io/v1alpha2', kind: 'User', metadata: { name: 'alice' } };
    expect(isUser({ ...user, spec: { email: 'a@example.com', groups: ['a'] }, status: { state: 'Active' } })).toBe(
      true,
    );
    for (const spec of [{}, { email: 'none' }, { email: '', lang: 'a\nb' }, { email: '', groups: ['system:x'] }]) {
      expect([spec, isUser({ ...user, spec })]).toEqual([spec, false]);
    }
    const isRecord = ajv.getSchema('crd#/components/schemas/LoginRecord') as ValidateFunction;
    const record = { apiVersion: 'iam.gatehouse.io/v1alpha2', kind: 'LoginRecord', metadata: { name: 'alice-1' } };
    expect(isRecord({ ...record, spec: { type: 'Token', success: true } })).toBe(true);
    expect(isRecord({ ...record, spec: { type: 'Token' } })).toBe(false);
  });
});
