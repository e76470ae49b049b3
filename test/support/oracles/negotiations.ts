import { type Chance, chanceOf } from './chance.ts';

/** The lines of `Accept` and of `Accept-Encoding` of one request. An empty list: the header is absent. */
export interface Negotiation {
  readonly accept: readonly string[];
  readonly acceptEncoding: readonly string[];
}

/** The number of ranges in the first header, which is more than Go sorts by insertion. */
export const MOST_RANGES = 300;

const TYPES = [
  'application/json',
  'application/json',
  'application/json',
  'application/*',
  '*/*',
  '*',
  'text/event-stream',
  'text/event-stream',
  'text/*',
  'text/html',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
];
const ODD_TYPES = [
  'Application/JSON',
  'APPLICATION/*',
  'Text/Event-Stream',
  'application/json/',
  'application / json',
  '*/json',
  'application',
  'application/jsonx',
  '/',
  '',
  ' ',
  '"application/json"',
];

const METADATA = ';as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const PARAMETERS = [METADATA, '; v=v1; g=meta.k8s.io; as=PartialObjectMetadata', ';as=Table;v=v1;g=meta.k8s.io'];
const ODD_PARAMETERS = [
  ';as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
  ';as=PartialObjectMetadata;g=meta.k8s.io;v=v1beta1',
  ';as=PartialObjectMetadata;g=meta.k8s.io',
  ';as=PartialObjectMetadata',
  ';as=partialobjectmetadata;g=meta.k8s.io;v=v1',
  ';AS=PartialObjectMetadata;G=meta.k8s.io;V=v1',
  ';as=Table;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
  ';as="PartialObjectMetadata";g="meta.k8s.io";v="v1"',
  ';as=',
  ';as',
  ';as=a=b',
  ';g=meta.k8s.io',
  ';v=v1',
  ';charset=utf-8',
  ';stream=watch',
  ';stream=other',
  ';stream=',
  ';sv=v1',
  ';sv=v2',
  ';pretty=1',
  ';title="a;q=0"',
  ';title="a,b"',
  ';title="application/json, */*"',
  ';',
  ';;',
];

const WEIGHTS = [';q=0', ';q=0.0', ';q=0.2', ';q=0.5', '; q=0.8', ';q=1', ';q=1.000', ';q=0.001'];
const ODD_WEIGHTS = [
  ';q=.2',
  '; q=.0',
  ';q=0.5000',
  ';q=0.0000',
  ';q=1.5',
  ';q=1.001',
  ';q=1.',
  ';q=0.',
  ';q=',
  ';q',
  ';q=x',
  ';q=-1',
  ';q=-0',
  ';q=+0.5',
  ';q=1e-3',
  ';q=0x1p-2',
  ';q=NaN',
  ';q=Inf',
  ';q=0,5',
  ';q=00.5',
  ';Q=0.5',
  ';Q=0',
  '; q = 0.5',
  ';q= 0',
  ';q="0.5"',
  ';q="0"',
  ';q=0.2;q=0.8',
  ';q=0.8;q=0',
];

const CODINGS = ['gzip', 'gzip', 'gzip', 'identity', 'deflate', 'br', 'zstd', '*'];
const ODD_CODINGS = ['GZIP', 'x-gzip', 'X-Gzip', 'notgzip', 'gzip-x', 'Identity', '', ' ', '"gzip"', 'gzip/1', 'g zip'];

const JOINTS = [', ', ', ', ',', ' ,', ',\t', ',,', ', ,'];

/** Headers that follow from the seed: headers of real clients, and headers that parsers may understand differently. */
export function negotiations(count: number, seed: number): Negotiation[] {
  const chance = chanceOf(seed);
  return Array.from({ length: count }, (_, at) => ({
    accept: headerLines(chance, () => oneRange(chance), at === 0),
    acceptEncoding: headerLines(chance, () => oneCoding(chance), at === 0),
  }));
}

function headerLines(chance: Chance, element: () => string, isLongest: boolean): string[] {
  const { happens, below } = chance;
  if (isLongest) return [list(chance, MOST_RANGES, element)];
  if (happens(0.03)) return [];
  // One of fifty is longer than the lists that Go sorts by insertion.
  return Array.from({ length: happens(0.85) ? 1 : 2 + below(2) }, () =>
    list(chance, happens(0.02) ? 13 + below(30) : happens(0.3) ? 1 : below(5), element),
  );
}

function list({ oneOf }: Chance, length: number, element: () => string): string {
  const elements = Array.from({ length }, element);
  return elements.reduce((all, one) => all + oneOf(JOINTS) + one, elements.shift() ?? '');
}

function oneRange(chance: Chance): string {
  const { happens, oneOf } = chance;
  const type = happens(0.9) ? oneOf(TYPES) : oneOf(ODD_TYPES);
  const parameters = happens(0.6) ? '' : happens(0.5) ? oneOf(PARAMETERS) : oneOf(ODD_PARAMETERS);
  const weight = oneWeight(chance);
  return happens(0.95) ? type + parameters + weight : type + weight + parameters;
}

const oneCoding = (chance: Chance): string =>
  (chance.happens(0.85) ? chance.oneOf(CODINGS) : chance.oneOf(ODD_CODINGS)) + oneWeight(chance);

const oneWeight = ({ happens, oneOf }: Chance): string =>
  happens(0.5) ? '' : happens(0.6) ? oneOf(WEIGHTS) : oneOf(ODD_WEIGHTS);
