import { describe, expect, test } from 'vitest';
import { execCredential, parseExecInfo } from '../../../src/cli/login/exec-credential.ts';

const GROUP = 'client.authentication.k8s.io';
const info = (more: object) => JSON.stringify({ kind: 'ExecCredential', apiVersion: `${GROUP}/v1`, spec: {}, ...more });

describe('what a client says of itself', () => {
  test.each(['v1', 'v1beta1'])('may be in %s', (version) => {
    const apiVersion = `${GROUP}/${version}`;
    expect(parseExecInfo(info({ apiVersion, spec: { interactive: true } }))).toEqual({
      apiVersion,
      isInteractive: true,
    });
  });

  test('may leave out whether the terminal is free', () => {
    expect(parseExecInfo(info({}))?.isInteractive).toBeUndefined();
    expect(parseExecInfo(info({ spec: undefined }))?.isInteractive).toBeUndefined();
  });

  test.each([undefined, ''])('is nothing when the variable is %j', (text) => {
    expect(parseExecInfo(text)).toBeUndefined();
  });

  test.each<readonly [string, string]>([
    ['{', 'KUBERNETES_EXEC_INFO is not JSON'],
    ['null', 'KUBERNETES_EXEC_INFO is not an ExecCredential'],
    [info({ kind: 'Pod' }), 'KUBERNETES_EXEC_INFO is not an ExecCredential'],
    [
      info({ apiVersion: `${GROUP}/v1alpha1` }),
      `the client wants an ExecCredential of ${GROUP}/v1alpha1; write ${GROUP}/v1 into its kubeconfig`,
    ],
  ])('is refused as %s', (text, message) => {
    expect(() => parseExecInfo(text)).toThrow(message);
  });
});

test('the credential has the token and its end in whole seconds, rounded down', () => {
  const goodUntil = Date.parse('2026-03-09T10:00:00.999Z');
  expect(JSON.parse(execCredential({ apiVersion: `${GROUP}/v1beta1`, token: 'a.b.c', goodUntil }))).toEqual({
    kind: 'ExecCredential',
    apiVersion: `${GROUP}/v1beta1`,
    spec: {},
    status: { expirationTimestamp: '2026-03-09T10:00:00Z', token: 'a.b.c' },
  });
});
