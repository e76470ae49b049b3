import { chanceOf } from './chance.ts';
import { oneFieldSelector } from './kubernetes-texts.ts';

/** A method and a request target. Each character is one byte. */
export type RequestLine = readonly [method: string, target: string];

const METHODS = ['GET', 'GET', 'GET', 'GET', 'GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'DELETE'];

const PREFIXES = [
  'api/v1',
  'api/v1',
  'api/v1',
  'apis/apps/v1',
  'apis/g.example/v1beta1',
  'apis/apps',
  'api',
  'apis',
  'version',
  'openapi/v3',
];
const VERBS = ['', '', '', '', '', '', 'watch', 'proxy', 'redirect'];
const NAMESPACES = ['', '', 'namespaces/d', 'namespaces/d', 'namespaces/kube-system', 'namespaces'];
const RESOURCES = [
  'pods',
  'pods',
  'nodes',
  'services',
  'namespaces',
  'watch',
  'proxy',
  'status',
  'finalize',
  'clusters',
];
const COLLECTIONS = ['pods', 'nodes', 'deployments'];
const NAMES = ['', '', '', 'a', 'a', 'web-0', 'system:node:x', 'a.b', 'watch', 'proxy', 'ü', 'a b', 'exec'];
const SUBRESOURCES = [
  '',
  '',
  'log',
  'exec',
  'attach',
  'portforward',
  'proxy',
  'proxy/a/b',
  'status',
  'scale',
  'console',
  'exec/x',
  'finalize',
  'a/b/c/d/e/f',
];
/** Path segments that are not canonical, or only look unusual. */
const ODD_SEGMENTS = [
  '',
  '.',
  '..',
  '%2e',
  'a%2Fb',
  'a%5Cb',
  '%00',
  '%ff',
  '%',
  'a;b',
  'a+b',
  '*',
  'a,b',
  '%7e',
  'A',
  '~',
];

const NAMES_OF_OPTIONS = [
  'watch',
  'watch',
  'watch',
  'fieldSelector',
  'fieldSelector',
  'labelSelector',
  'limit',
  'timeoutSeconds',
  'resourceVersion',
  'resourceVersionMatch',
  'continue',
  'allowWatchBookmarks',
  'sendInitialEvents',
  'follow',
  'timeout',
  'pretty',
  '?watch',
  'Watch',
  'watch ',
  '',
];
const VALUES: Readonly<Record<string, readonly string[]>> = {
  watch: ['1', 'true', '', '0', 'false', 'False', 'FALSE', 'faLse', 'falſe', 'no', '00', ' 0', 'true1'],
  labelSelector: [
    '',
    'a=b',
    'a',
    '!a',
    'a in (b,c)',
    'a notin ()',
    'a in b',
    '(',
    'a=b,',
    ',',
    'a==b,c!=d',
    'x/y/z=1',
    'a>1',
    'a>x',
    'a b',
    'ü=1',
    'a=-',
  ],
  limit: ['', '0', '5', '-1', '+7', '05', 'x', '1.5', '9223372036854775807', '9223372036854775808', ' 1', '1_0', '0x1'],
  timeoutSeconds: ['', '30', 'x', '3s', '-0'],
};
const OTHER_VALUES = ['', '1', 'true', 'Exact', 'NotOlderThan', 'a=b', '10s', 'x'];

/** Pairs that Go drops, or whose bytes are not UTF-8. */
const ODD_PAIRS = [
  '%',
  '%zz=1',
  'a%c3',
  'watch=%',
  'watch=1%zz',
  'watch=%ff',
  'watch%2=1',
  '%ff=1',
  'fieldSelector=metadata.name=a%',
  'labelSelector=%ed%a0%80',
];

/** Separators between the pairs of a query. */
const JOINTS = ['&', '&', '&', '&', '&', '&', '&', '&', '&&', ';', '&amp;'];
/** The most pairs in a query. */
const MOST_PAIRS = 12;

/** Request lines that follow from the seed: lines of real clients, and lines that parsers may understand differently. */
export function requestLines(count: number, seed: number): RequestLine[] {
  const chance = chanceOf(seed);
  const { below, oneOf, happens } = chance;

  /** Half of the lines are for collections, for which the query matters. */
  const collection = (): string =>
    [oneOf(['api/v1', 'apis/apps/v1']), oneOf(NAMESPACES), oneOf(COLLECTIONS)].filter(Boolean).join('/');
  const segments = (): string => {
    if (happens(0.5)) return collection();
    const parts = [oneOf(PREFIXES), oneOf(VERBS), oneOf(NAMESPACES), oneOf(RESOURCES)];
    const name = oneOf(NAMES);
    if (name !== '') parts.push(name, oneOf(SUBRESOURCES));
    const path = parts.filter((part) => part !== '').flatMap((part) => part.split('/'));
    if (happens(0.05)) path.splice(below(path.length + 1), 0, oneOf(ODD_SEGMENTS));
    return path.map((segment) => (ODD_SEGMENTS.includes(segment) ? segment : encoded(segment, 0.02))).join('/');
  };
  /** Escapes some of the characters, and always those that a target cannot have. */
  const encoded = (text: string, share: number): string =>
    Array.from(Buffer.from(text), (byte) => {
      const sign = String.fromCharCode(byte);
      if (/[\w.~:/!=,()-]/.test(sign) && !happens(share)) return sign;
      if (sign === ' ' && happens(0.5)) return '+';
      const hex = byte.toString(16).padStart(2, '0');
      return `%${happens(0.5) ? hex : hex.toUpperCase()}`;
    }).join('');
  const value = (name: string): string =>
    name.trim() === 'fieldSelector' ? oneFieldSelector(chance) : oneOf(VALUES[name] ?? OTHER_VALUES);
  const pair = (): string => {
    const name = oneOf(NAMES_OF_OPTIONS);
    // Half of the names are without escapes.
    const written = encoded(name, happens(0.5) ? 0 : 0.2);
    if (happens(0.05)) return oneOf([...ODD_PAIRS, written]);
    return happens(0.1) ? written : `${written}=${encoded(value(name), 0.1)}`;
  };
  const query = (pairs: number): string =>
    Array.from({ length: pairs }, () => pair()).reduce((all, one) => all + oneOf(JOINTS) + one);

  return Array.from({ length: count }, (_, at): RequestLine => {
    const path = `/${segments()}${happens(0.05) ? '/' : ''}`;
    // The first query has the most pairs.
    const pairs = at === 0 ? MOST_PAIRS : below(5);
    const mark = happens(0.03) ? '??' : '?';
    return [oneOf(METHODS), pairs === 0 ? path : path + mark + query(pairs)];
  });
}
