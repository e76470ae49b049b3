/** A request target in canonical form: decoded once, for decisions only. */
export interface Target {
  /** Decoded path segments; a trailing slash leaves no empty one. `/` has none. */
  readonly segments: readonly string[];
  /** The path as sent, without query. */
  readonly path: string;
  /** What follows `?`, as sent; `''` when there is none. */
  readonly query: string;
}

/** A target that is not canonical, with a fixed phrase that says why. */
export interface BadTarget {
  readonly fault: string;
}

/** Visible ASCII without `#`: what a canonical target may be made of. */
const PERMITTED = /^[\x21\x22\x24-\x7e]*$/;
const CONTROL = /\p{Cc}/u;
const ABSOLUTE_FORM = /^(https?):\/\/([^/?]*)(.*)$/i;
/** The port that a scheme has where none is written (RFC 9110 4.2.1, 4.2.2). */
const DEFAULT_PORT: Readonly<Record<string, RegExp>> = { http: /:(?:80)?$/, https: /:(?:443)?$/ };

/**
 * Reads a request target by the rules of docs/contract/http.md, section 3.1: origin-form, or absolute-form whose
 * authority equals `host`, the default port written or not (RFC 9112 3.2.2, RFC 9110 4.2.3). Anything that two readers could understand in two ways is a fault, never repaired.
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

/** The decoded segments of a path, or a phrase that says what is wrong with it. */
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

/** Paths whose errors are OAuth JSON. Takes the target as sent, so that a refused one is answered in its own form too. */
export function isOAuthPath(raw: string): boolean {
  const path = raw.startsWith('/') ? raw : (ABSOLUTE_FORM.exec(raw)?.[3] ?? '');
  if (!path.startsWith('/oauth')) return false;
  const next = path.charCodeAt('/oauth'.length);
  return Number.isNaN(next) || next === 0x2f || next === 0x3f;
}
