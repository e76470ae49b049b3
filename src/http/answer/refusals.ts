import { type StatusDetails, StatusError } from '../../status-error.ts';
import type { RequestInfo } from '../request-info.ts';

/** The refusals that do not belong to one endpoint (the HE- rows of docs/contract/http.md). */

export const malformed = (fault: string, headers?: Readonly<Record<string, string>>): StatusError =>
  new StatusError('BadRequest', {
    message: `the request is malformed: ${fault}`,
    ...(headers ? { headers } : {}),
  });

export const unauthorized = (sentence: string, challenge: string): StatusError =>
  new StatusError('Unauthorized', {
    message: `Unauthorized: ${sentence}`,
    headers: { 'WWW-Authenticate': challenge },
  });

export const resourceNotFound = (details: StatusDetails = {}): StatusError =>
  new StatusError('NotFound', {
    message: 'the server could not find the requested resource',
    details,
  });

/** A 404, because no route serves the path. `info` is `undefined` if verb and resource have not been read yet. */
export const nothingServed = (info: RequestInfo | undefined): StatusError =>
  resourceNotFound(info?.isResource ? { ...(info.group && { group: info.group }), kind: info.resource } : {});

/**
 * A 404, because no route serves a path under /kapis. In a group of 3.4 the message says that the resource is not offered, because clients of
 * KubeSphere ask for many of its parts (CO-10). In the group of the lists it says so to these clients for 3.4's older version only: in
 * the other one a name may be that of a kind that the cluster does not have.
 */
export function notServed(info: RequestInfo | undefined, platform: string): StatusError {
  if (!info?.isResource || info.prefix !== 'kapis') return nothingServed(info);
  const { group, version, resource } = info;
  if (!isOfPlatform(group, platform)) return nothingServed(info);
  const hasLists = group === `resources.${platform}.io`;
  if (hasLists && !(platform === KUBESPHERE && version === OLD_LISTS)) return nothingServed(info);
  const api = hasLists ? `version ${JSON.stringify(version)} of the API group` : 'the API group';
  return new StatusError('NotFound', {
    message: `${JSON.stringify(resource)} of ${api} ${JSON.stringify(group)} is not offered by this server`,
    details: { group, kind: resource },
  });
}

const KUBESPHERE = 'kubesphere';
const OLD_LISTS = 'v1alpha2';

/** The group of KubeSphere's app store has another end than all others. */
const isOfPlatform = (group: string, platform: string): boolean =>
  group.endsWith(`.${platform}.io`) || (platform === KUBESPHERE && group === 'openpitrix.io');

/** `allow` is empty for a path without a route, and then so is the header (RFC 9110 10.2.1, 15.5.6). */
export const methodNotAllowed = (allow: string): StatusError =>
  new StatusError('MethodNotAllowed', {
    message: 'the server does not allow this method on the requested resource',
    details: {},
    headers: { Allow: allow },
  });

export const notAcceptable = (...also: readonly string[]): StatusError =>
  new StatusError('NotAcceptable', {
    message: `only the following media types are accepted: ${['application/json', ...also].join(', ')}`,
  });

export const tooSlow = (message: string): StatusError =>
  new StatusError('RequestTimeout', { message, headers: { Connection: 'close' } });

export const gone = (message: string): StatusError => new StatusError('Gone', { message });

export const bodyTooLarge = (limit: number): StatusError =>
  new StatusError('RequestEntityTooLarge', {
    message: `Request entity too large: limit is ${limit}`,
    headers: { Connection: 'close' },
  });

/** Compressed bodies are refused, because they may expand to a thousand times the bytes that were sent. */
export const encodedBody = (): StatusError =>
  new StatusError('UnsupportedMediaType', {
    message: 'the body of the request must not have a Content-Encoding',
  });

export const unsupportedMediaType = (expected: string): StatusError =>
  new StatusError('UnsupportedMediaType', {
    message: `the body of the request was in an unknown format - accepted media types include: ${expected}`,
  });

const headersTooLarge = (fault: string): StatusError =>
  new StatusError('RequestHeaderFieldsTooLarge', {
    message: `the request is malformed: ${fault}`,
    headers: { Connection: 'close' },
  });

/** `mayBeCommand`: the cluster's own paths are served, so the request line may contain the command of an `exec`. */
export const headerBytesExceeded = (limit: number, mayBeCommand = false): StatusError => {
  const what = mayBeCommand
    ? 'its request line, with the command of an exec in it, and its headers are'
    : 'its header is';
  return headersTooLarge(`${what} over ${limit} bytes (limits.maxHeaderBytes)`);
};

export const headerLinesExceeded = (limit: number): StatusError =>
  headersTooLarge(`it has more than ${limit} header lines`);

export const answerTimedOut = (limitMs: number): StatusError =>
  new StatusError('Timeout', {
    message: `the request could not be answered within ${limitMs / 1000} s`,
  });

export const internalError = (requestId: string, cause: unknown): StatusError =>
  new StatusError(
    'InternalError',
    {
      message: `Internal error occurred: see the server log for request ${requestId}`,
    },
    cause,
  );
