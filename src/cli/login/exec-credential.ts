import { toRfc3339 } from '../../runtime/text/rfc3339.ts';
import { LoginError } from './login-error.ts';

/**
 * The protocol of credential plug-ins of Kubernetes' clients:
 * https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
 */
const GROUP = 'client.authentication.k8s.io';
const VERSIONS: ReadonlySet<unknown> = new Set([`${GROUP}/v1`, `${GROUP}/v1beta1`]);

/** What the client that runs us passes in KUBERNETES_EXEC_INFO. */
export interface ExecInfo {
  readonly apiVersion: string;
  /** Whether the plug-in may ask for a password on the terminal. `undefined`: the client does not say. */
  readonly isInteractive: boolean | undefined;
}

/** The defaults for a client that does not set KUBERNETES_EXEC_INFO; some do not. */
export const DEFAULT_EXEC_INFO: ExecInfo = { apiVersion: `${GROUP}/v1`, isInteractive: undefined };

/** Parses the variable KUBERNETES_EXEC_INFO; `undefined` when no client has set it. */
export function parseExecInfo(text: string | undefined): ExecInfo | undefined {
  if (!text) return undefined;
  const { kind, apiVersion, spec } = parseObject(text);
  if (kind !== 'ExecCredential') throw new LoginError('KUBERNETES_EXEC_INFO is not an ExecCredential');
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
    throw new LoginError('KUBERNETES_EXEC_INFO is not JSON');
  }
}

interface Credential {
  readonly apiVersion: string;
  readonly token: string;
  /** In milliseconds since 1970. After that time the client runs the plug-in again. */
  readonly goodUntil: number;
}

/** The ExecCredential that the client reads. The time has whole seconds, as Kubernetes writes it. */
export const execCredential = ({ apiVersion, token, goodUntil }: Credential): string =>
  JSON.stringify({
    kind: 'ExecCredential',
    apiVersion,
    spec: {},
    status: { expirationTimestamp: toRfc3339(goodUntil), token },
  });
