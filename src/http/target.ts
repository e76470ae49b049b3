/** A request target in canonical form. It is decoded once, and only used for decisions. */
export interface Target {
  /** The decoded path segments, without an empty one for a trailing slash; `/` has none. */
  readonly segments: readonly string[];
  /** The path as sent, without query. */
  readonly path: string;
  /** The text after `?`, as sent; `''` if there is none. */
  readonly query: string;
}

/** The reason why a target is not canonical, as a fixed phrase. */
export interface BadTarget {
  readonly fault: string;
}

/** The characters of a canonical target: visible ASCII without `#`. */
const PERMITTED = /^[\x21\x22\x24-\x7e]*$/;
const CONTROL = /\p{Cc}/u;
const ABSOLUTE_FORM = /^(https?):\/\/([^/?]*)(.*)$/i;
/** Matches a default port at the end of an authority: the colon, with or without the number (RFC 9110 4.2.1, 4.2.2). */
const DEFAULT_PORT: Readonly<Record<string, RegExp>> = { http: /:(?:80)?$/, https: /:(?:443)?$/ };

/**
 * Parses a request target by the rules of docs/contract/http.md, section 3.1. It is in origin-form, or in absolute-form with an
 * authority equal to `host`, where a default port may be left out (RFC 9112 3.2.2, RFC 9110 4.2.3). A target that two parsers could read
 * differently is a fault and is never repaired.
 */
export function parseTarget(raw: string, host: string | undefined): Target | BadTarget {
  if (raw.startsWith('/')) return parseOriginForm(raw);
  const absolute = ABSOLUTE_FORM.exec(raw);
  if (!absolute) return { fault: 'the request target is not a path' };
  const [, scheme = '', authority = '', rest = ''] = absolute;
  const plain = (text: string): string => text.toLowerCase().replace(DEFAULT_PORT[scheme.toLowerCase()] as RegExp, '');
  if (host === undefined || plain(authority) !== plain(host)) return { fault: 'the request target names another host' };
  return parseOriginForm(rest.startsWith('/') ? rest : `/${rest}`);
}

function parseOriginForm(raw: string): Target | BadTarget {
  if (!PERMITTED.test(raw)) return { fault: 'the request target has a character that must be encoded' };
  const mark = raw.indexOf('?');
  const path = mark < 0 ? raw : raw.slice(0, mark);
  const query = mark < 0 ? '' : raw.slice(mark + 1);
  if (path.includes('\\')) return { fault: 'the path has a backslash' };
  const segments = toSegments(path);
  return typeof segments === 'string' ? { fault: segments } : { segments, path, query };
}

/** The decoded segments of a path, or a phrase that says what is wrong with the path. */
function toSegments(path: string): string[] | string {
  if (path === '/') return [];
  const end = path.endsWith('/') ? -1 : undefined; // one trailing slash is accepted and has no meaning
  const segments = path.slice(1, end).split('/');
  const escaped = path.includes('%');
  for (const [index, raw] of segments.entries()) {
    const segment = escaped && raw.includes('%') ? decodeSegment(raw) : raw;
    if (segment === undefined) return 'the path is not valid percent-encoded UTF-8';
    if (segment === '') return 'the path has an empty segment';
    if (segment === '.' || segment === '..') return 'the path has a dot segment';
    if (segment !== raw && (/[/\\]/.test(segment) || CONTROL.test(segment))) {
      return 'the path has an encoded slash, backslash or control character';
    }
    segments[index] = segment;
  }
  return segments;
}

function decodeSegment(raw: string): string | undefined {
  try {
    return decodeURIComponent(raw);
  } catch {
    return undefined;
  }
}

/** Whether errors of this path are OAuth JSON. It reads the target as sent, because a refused target also gets an answer. */
export function isOAuthPath(raw: string): boolean {
  const path = raw.startsWith('/') ? raw : (ABSOLUTE_FORM.exec(raw)?.[3] ?? '');
  if (!path.startsWith('/oauth')) return false;
  const next = path.charCodeAt('/oauth'.length);
  return Number.isNaN(next) || next === 0x2f || next === 0x3f;
}
