import type { IncomingMessage } from 'node:http';
import { type UpgradeProtocol, upgradeKindOf } from '../../gateway/call.ts';
import { malformed } from '../answer/refusals.ts';
import { toRequestInfo } from '../request-info.ts';
import { parseTarget } from '../target.ts';

const isGatewayPath = (first: string | undefined): boolean => first === 'api' || first === 'apis';

/** The protocol that a request asks to upgrade to; `undefined` if it asks for none that the gateway passes on. */
export function askedProtocol({ httpVersion, method, headers }: IncomingMessage): UpgradeProtocol | undefined {
  if (httpVersion !== '1.1') return undefined; // HTTP/1.0 has no upgrades (RFC 9110 7.8)
  if (method !== 'GET' && method !== 'POST') return undefined;
  const protocol = headers.upgrade?.toLowerCase();
  if (protocol !== 'websocket' && protocol !== 'spdy/3.1') return undefined;
  const words = headers.connection?.toLowerCase().split(',') ?? [];
  return words.some((word) => word.trim() === 'upgrade') ? protocol : undefined;
}

/**
 * Whether Node emits `upgrade` for this request: only for an upgrade that the gateway passes on. Any other `Upgrade` header is ignored
 * (A-14, docs/promises.md).
 */
export function isUpgrade(request: IncomingMessage): boolean {
  const protocol = askedProtocol(request);
  if (!protocol || hasBody(request)) return false;
  const target = parseTarget(request.url ?? '', request.headers.host);
  if ('fault' in target || !isGatewayPath(target.segments[0])) return false;
  const info = toRequestInfo(request.method ?? '', target.segments, target.query);
  return !('fault' in info) && upgradeKindOf(info, protocol) !== undefined;
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || !/^0*$/.test(headers['content-length'] ?? '');

/** The prefix that kube-apiserver uses: https://github.com/kubernetes/kubernetes/blob/v1.34.0/staging/src/k8s.io/apiserver/pkg/authentication/request/websocket/protocol.go */
const BEARER_PREFIX = 'base64url.bearer.authorization.k8s.io.';
const BASE64URL = /^[A-Za-z0-9_-]+$/;
const TOKEN = /^[!-~]+$/;

export interface Subprotocols {
  /** The token that was sent as a subprotocol, because a browser cannot set `Authorization` on a WebSocket. */
  readonly bearer: string | undefined;
  /** All other subprotocols, in their order. */
  readonly others: readonly string[];
}

/** Parses the subprotocols of a WebSocket. Throws a 400 if there are two bearers, or a bearer without another subprotocol. */
export function readSubprotocols({ headers }: IncomingMessage): Subprotocols {
  const offered = (headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
  const bearers = offered.filter((word) => word.startsWith(BEARER_PREFIX));
  const others = offered.filter((word) => !word.startsWith(BEARER_PREFIX));
  const [first] = bearers;
  if (first === undefined) return { bearer: undefined, others };
  if (bearers.length > 1) throw malformed('it has more than one bearer among its subprotocols');
  if (headers.authorization !== undefined)
    throw malformed('it has a bearer in a header and one among its subprotocols');
  if (others.length === 0) throw malformed('the bearer is its only subprotocol: the server cannot choose it');
  return { bearer: decoded(first.slice(BEARER_PREFIX.length)), others };
}

function decoded(text: string): string {
  const token = BASE64URL.test(text) ? Buffer.from(text, 'base64url').toString('latin1') : '';
  if (!TOKEN.test(token)) throw malformed('the bearer among its subprotocols is not base64url of a token');
  return token;
}

/** Whether the request comes from a page of another origin: browsers do not stop such a page from opening a WebSocket here. */
export function isForeign({ headers }: IncomingMessage, allowed: ReadonlySet<string>): boolean {
  const { origin, host } = headers;
  if (origin === undefined || allowed.has(origin)) return false;
  return !URL.canParse(origin) || new URL(origin).host !== hostOf(origin, host);
}

/** Our own host as the client wrote it, without the default port of the origin's scheme. */
function hostOf(origin: string, host: string | undefined): string | undefined {
  const own = `${new URL(origin).protocol}//${host}`;
  return host !== undefined && URL.canParse(own) ? new URL(own).host : undefined;
}
