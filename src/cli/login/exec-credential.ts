import { toRfc3339 } from '../../runtime/text/rfc3339.ts';
import { LoginError } from './login-error.ts';

/**
 * The protocol of credential plug-ins of Kubernetes' clients:
 * https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
 */
const GROUP = 'client.authentication.k8s.io';
const VERSIONS: ReadonlySet<unknown> = new Set([`${GROUP}/v1`, `${GROUP}/v1beta1`]);

/** What the client that runs us says about itself. */
export interface ExecInfo {
  readonly apiVersion: string;
  /** Whether the terminal is ours to ask for a password. `undefined`: the client does not say. */
  readonly isInteractive: boolean | undefined;
}

/** What a client gets that says nothing: some set no variable at all. */
export const SILENT_CLIENT: ExecInfo = { apiVersion: `${GROUP}/v1`, isInteractive: undefined };

/** Reads the variable KUBERNETES_EXEC_INFO; `undefined` when no client has set it. */
export function parseExecInfo(text: string | undefined): ExecInfo | undefined {
  if (!text) return undefined;
  const { kind, apiVersion, spec } = parseObject(text);
  if (kind !== 'ExecCredential') throw new LoginError('KUBERNETES_EXEC_INFO holds no ExecCredential');
  if (!VERSIONS.has(apiVersion))
    throw new LoginError(
      `the client wants an ExecCredential of ${String(apiVersion)}; write ${GROUP}/v1 into its kubeconfig`,
    );
  const { interactive } = (spec ?? {}) as { interactive?: unknown };
  return {
    apiVersion: apiVersion as string,
    isInteractive: typeof interactive === 'boolean' ? interactive : undefined,
  };
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text));
  } catch {
    throw new LoginError('KUBERNETES_EXEC_INFO is no JSON');
  }
}

interface Credential {
  readonly apiVersion: string;
  readonly token: string;
  /** In milliseconds since 1970. The client asks again after it. */
  readonly goodUntil: number;
}

/** The answer to the client. */
export const execCredential = ({ apiVersion, token, goodUntil }: Credential): string =>
  JSON.stringify({
    kind: 'ExecCredential',
    apiVersion,
    spec: {},
    status: { expirationTimestamp: toRfc3339(goodUntil), token },
  });
