import { loadYaml } from '@kubernetes/client-node';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type YamlValue, yamlText } from '../../../src/cli/login/kubeconfig/yaml-text.ts';
import { check } from '../../support/property.ts';

/** Texts that a parser could take for something else, besides any text. */
const word = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.stringMatching(/^[-\w./:@=+ #'"]{0,8}$/),
  fc.constantFrom(
    'yes',
    'No',
    'off',
    'y',
    'null',
    '~',
    '1e3',
    '0x1f',
    '1_000',
    '12:30:45',
    '2001-01-01',
    '---',
    'a: b',
  ),
);
const value: fc.Arbitrary<YamlValue> = fc.letrec<{ value: YamlValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    word,
    fc.boolean(),
    fc.array(tie('value'), { minLength: 1, maxLength: 3, size: 'max' }),
    fc.array(fc.tuple(word, tie('value')), { minLength: 1, maxLength: 3, size: 'max' }).map(Object.fromEntries),
  ),
})).value;

describe('YAML that we write', () => {
  test.each(['1.1', '1.2'] as const)('is read as it was meant by a parser of YAML %s', (version) => {
    check(
      fc.property(value, (given) => {
        expect(parse(yamlText(given), { version })).toEqual(given);
      }),
    );
  });

  test('is read as it was meant by the parser of the client library', () => {
    check(
      fc.property(value, (given) => {
        expect(loadYaml(yamlText({ given }))).toEqual({ given });
      }),
    );
  });

  test('has addresses, names and options without quotes', () => {
    const given = {
      server: 'https://gatehouse.example.com:8443/k8s',
      args: ['login', '--username=ada'],
      deep: [{ a1: true, b1: 'x y' }],
    };
    expect(yamlText(given)).toBe(
      [
        'server: https://gatehouse.example.com:8443/k8s',
        'args:',
        '  - login',
        '  - --username=ada',
        'deep:',
        '  - a1: true',
        '    b1: "x y"',
      ].join('\n'),
    );
  });
});
