import type { WatchForm } from '../../resources/watch/watch-event.ts';

/**
 * Whether a caller accepts `application/json` (RFC 9110 12.5.1): the most specific range that matches it decides.
 * `application/json;as=Table…` asks for a form that is not offered, so it matches nothing.
 */
export function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined || accept === '' || accept === '*/*' || accept === 'application/json') return true;
  return bestRange(accept, JSON_RANGES, isWhole).quality > 0;
}

/** The format of a stream, and whether its objects are whole or only their metadata. */
export interface StreamForm {
  readonly form: WatchForm;
  readonly metadataOnly: boolean;
}

/**
 * Chooses the form of a stream. A caller gets server-sent events if it names them with a higher weight than JSON, or with the same
 * weight without naming JSON. All other callers get JSON lines. `bestOfBoth` decides whether the caller gets only metadata
 * (`as=PartialObjectMetadata;g=meta.k8s.io;v=v1`). `undefined`: the caller accepts neither form.
 */
export function chooseStreamForm(accept = '*/*'): StreamForm | undefined {
  const json = bestOfBoth(accept === '' ? '*/*' : accept, JSON_RANGES);
  const events = bestOfBoth(accept, EVENT_RANGES);
  const isEqual = events.quality === json.quality && json.precision < EXACT;
  if (events.quality > 0 && (events.quality > json.quality || isEqual)) {
    return { form: 'events', metadataOnly: events.metadataOnly };
  }
  return json.quality > 0 ? { form: 'json', metadataOnly: json.metadataOnly } : undefined;
}

interface BestRange {
  readonly precision: number;
  readonly quality: number;
  /** The position of the range in the header. */
  readonly at: number;
}

/**
 * Chooses whole objects or only metadata. The higher weight decides, then the more specific range, then the order in the header. The API
 * server does the same.
 */
function bestOfBoth(accept: string, ranges: Ranges): BestRange & { readonly metadataOnly: boolean } {
  const whole = bestRange(accept, ranges, isWhole);
  const metadata = bestRange(accept, ranges, isMetadataOnly);
  const metadataOnly =
    metadata.quality > 0 &&
    (metadata.quality - whole.quality || metadata.precision - whole.precision || whole.at - metadata.at) > 0;
  return { ...(metadataOnly ? metadata : whole), metadataOnly };
}

/** Finds the most specific range in the header with matching parameters, and its weight. */
function bestRange(accept: string, ranges: Ranges, isMeant: (parameters: Parameters) => boolean): BestRange {
  let best: BestRange = { precision: -1, quality: 0, at: -1 };
  for (const [at, range] of accept.split(',').entries()) {
    const { name, parameters } = parseElement(range);
    const precision = ranges[name];
    if (precision === undefined || !isMeant(parameters)) continue;
    const quality = qualityOf(parameters);
    if (precision > best.precision || (precision === best.precision && quality > best.quality)) {
      best = { precision, quality, at };
    }
  }
  return best;
}

/** Parameters by name in lower case. If two have the same name, the last one counts, as with the API server. */
type Parameters = ReadonlyMap<string, string>;

/** Parses `name;parameter=value;…`. Only values are case-sensitive. A parameter without a value, or with two, is ignored. */
function parseElement(text: string): { readonly name: string; readonly parameters: Parameters } {
  const [name = '', ...rest] = text.split(';');
  const parameters = new Map<string, string>();
  for (const part of rest) {
    const [key = '', value = '', ...more] = part.split('=').map((word) => word.trim());
    if (value !== '' && more.length === 0) parameters.set(key.toLowerCase(), value);
  }
  return { name: name.trim().toLowerCase(), parameters };
}

type Ranges = Readonly<Record<string, number>>;
const EXACT = 2;
// A single `*`, which Java's HttpURLConnection sends, means any type.
const JSON_RANGES: Ranges = { '*': 0, '*/*': 0, 'application/*': 1, 'application/json': EXACT };
// Wildcards do not match, because server-sent events are only for callers that name them.
const EVENT_RANGES: Ranges = { 'text/event-stream': EXACT };

/** The parameters of a media range by which the API server chooses the form of its answer, each with its default value. */
const USUAL: readonly (readonly [name: string, value: string])[] = [
  ['as', ''],
  ['g', ''],
  ['v', ''],
  ['stream', 'watch'],
  ['sv', 'v1'],
];
const METADATA_ONLY: Readonly<Record<string, string>> = { as: 'PartialObjectMetadata', g: 'meta.k8s.io', v: 'v1' };

const isWhole = (parameters: Parameters): boolean =>
  USUAL.every(([name, value]) => (parameters.get(name) ?? value) === value);
const isMetadataOnly = (parameters: Parameters): boolean =>
  USUAL.every(([name, value]) => (parameters.get(name) ?? value) === (METADATA_ONLY[name] ?? value));

/**
 * The content coding of the answer (RFC 9110 12.5.3): gzip if the caller accepts it and does not prefer `identity`, else `identity`,
 * which is always available.
 */
export function chooseCoding(acceptEncoding: string | undefined): 'identity' | 'gzip' {
  if (acceptEncoding === undefined || !/gzip|\*/i.test(acceptEncoding)) return 'identity';
  return preferredCoding(codingQualities(acceptEncoding));
}

/** The codings of what is compressed once and sent often. */
export type CompactCoding = 'identity' | 'gzip' | 'br';

/** As `chooseCoding`, and Brotli (RFC 7932) if the caller names it and prefers neither of the two others. */
export function chooseCompactCoding(acceptEncoding: string | undefined): CompactCoding {
  const qualities = codingQualities(acceptEncoding ?? '');
  const { br = 0, identity = 0, any = 0, gzip = any } = qualities;
  return br > 0 && br >= gzip && br >= identity ? 'br' : preferredCoding(qualities);
}

type CodingQualities = { [coding in CompactCoding | 'any']?: number };

function preferredCoding({ identity = 0, any = 0, gzip = any }: CodingQualities): 'identity' | 'gzip' {
  return gzip > 0 && gzip >= identity ? 'gzip' : 'identity';
}

/** The weights of the codings that we know. If a coding is named twice, the higher weight counts, as for a range of `Accept`. */
function codingQualities(acceptEncoding: string): CodingQualities {
  const qualities: CodingQualities = {};
  for (const item of acceptEncoding.split(',')) {
    const { name, parameters } = parseElement(item);
    const coding = CODINGS[name];
    if (coding) qualities[coding] = Math.max(qualities[coding] ?? 0, qualityOf(parameters));
  }
  return qualities;
}

const CODINGS: Readonly<Record<string, CompactCoding | 'any'>> = {
  br: 'br',
  gzip: 'gzip',
  'x-gzip': 'gzip',
  identity: 'identity',
  '*': 'any',
};

/** Browsers name about ten. The 2,000 that fit into a header would take milliseconds, many times what the rest of a page takes. */
const MOST_LANGUAGES = 32;

/** The languages that the caller accepts, in lower case, the preferred ones first (RFC 9110 12.5.4); of more than 32 the first ones. */
export const preferredLanguages = (acceptLanguage = ''): string[] =>
  acceptLanguage
    .split(',', MOST_LANGUAGES)
    .map(parseElement)
    .map(({ name, parameters }) => ({ name, quality: qualityOf(parameters) }))
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality)
    .map(({ name }) => name);

/**
 * The weight (RFC 9110 12.4.2); 1 if there is none. Some clients write it in ways that the grammar does not allow: Java's
 * HttpURLConnection still sent `q=.2` in 17.0.9. So any decimal number is accepted, numbers above 1 count as 1, and so does a text that
 * is not a number: only a zero refuses.
 */
function qualityOf(parameters: Parameters): number {
  const text = parameters.get('q');
  return text !== undefined && DECIMAL.test(text) ? Math.min(1, Number(text)) : 1;
}

/** A decimal number; these are more digits than any weight has. */
const DECIMAL = /^(?:\d{1,9}\.?\d{0,9}|\.\d{1,9})$/;
