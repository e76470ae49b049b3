import type { Representation } from '../../resources/bytes/representation.ts';
import type { AnswerWriter } from '../answer/answer.ts';
import { toJsonBytes, toRepresentation } from '../answer/document.ts';
import { sendRepresentation } from '../answer/send-representation.ts';
import type { Handler, Route } from '../exchange.ts';

/** The build, and what it runs on. */
export interface ReleaseInfo {
  /** Semantic version without `v`. */
  readonly version: string;
  readonly gitCommit: string;
  readonly gitTreeState: string;
  /** RFC 3339. */
  readonly buildDate: string;
  readonly nodeVersion: string;
  /** `linux/amd64`. */
  readonly platform: string;
}

export interface VersionParts {
  readonly release: ReleaseInfo;
  /** The cluster's own `/version`, whole; `undefined` until it is known. A changed version is a new object. */
  clusterVersion(): Readonly<Record<string, unknown>> | undefined;
}

/**
 * The API level of this server. Clients of KubeSphere 3.4 compare the first two numbers of `gitVersion` with 3.2 to
 * choose their paths, so our own release follows as build metadata.
 */
const API_LEVEL = { gitVersion: 'v3.4.1', gitMajor: '3', gitMinor: '4' };

export function versionRoutes(parts: VersionParts, writer: AnswerWriter): Route[] {
  let shown: { readonly of: unknown; readonly representation: Representation } | undefined;
  const handler: Handler = (exchange) => {
    const cluster = parts.clusterVersion();
    if (!shown || shown.of !== cluster) {
      shown = { of: cluster, representation: toRepresentation(toJsonBytes(toVersion(parts.release, cluster))) };
    }
    const { representation } = shown;
    return sendRepresentation(writer, exchange, {
      contentType: 'application/json',
      cacheControl: 'no-cache',
      representation,
    });
  };
  return ['/version', '/kapis/version'].map((template) => ({
    template,
    access: 'public',
    admission: 'other',
    produces: 'json',
    methods: { GET: handler, HEAD: handler },
  }));
}

function toVersion(release: ReleaseInfo, cluster: Readonly<Record<string, unknown>> | undefined): object {
  return {
    ...API_LEVEL,
    gitVersion: `${API_LEVEL.gitVersion}+gatehouse.${release.version}`,
    gatehouse: `v${release.version}`,
    gitCommit: release.gitCommit,
    gitTreeState: release.gitTreeState,
    buildDate: release.buildDate,
    nodeVersion: release.nodeVersion,
    platform: release.platform,
    ...(cluster ? { kubernetes: cluster } : {}),
  };
}
