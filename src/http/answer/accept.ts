import type { WatchForm } from '../../resources/watch/watch-event.ts';

/**
 * Whether a caller accepts `application/json` (RFC 9110 12.5.1): the most specific range that covers it decides.
 * `application/json;as=Table…` asks for a form that is not offered, so it covers nothing.
 */
export function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined || accept === '' || accept === '*/*' || accept === 'application/json') return true;
  return judge(accept, JSON_RANGES, isWhole).quality > 0;
}

/** How a stream is written, and whether its objects are whole or their metadata alone. */
export interface StreamForm {
  readonly form: WatchForm;
  readonly metadataOnly: boolean;
}

/**
 * Chooses the form of a stream. Server-sent events need a caller that names them and does not give JSON a higher
 * weight, nor name it with the same weight; all others get JSON lines. Metadata alone is for a caller that asks for
 * `as=PartialObjectMetadata;g=meta.k8s.io;v=v1` with a higher weight than whole objects, or by a more specific range, or
 * first, as with the API server. `undefined`: the caller accepts neither form.
 */
export function chooseStreamForm(accept = '*/*'): StreamForm | undefined {
  const json = judgeBoth(accept === '' ? '*/*' : accept, JSON_RANGES);
  const events = judgeBoth(accept, EVENT_RANGES);
  const isEqual = events.quality === json.quality && json.precision < EXACT;
  if (events.quality > 0 && (events.quality > json.quality || isEqual)) {
    return { form: 'events', metadataOnly: events.metadataOnly };
  }
  return json.quality > 0 ? { form: 'json', metadataOnly: json.metadataOnly } : undefined;
}

interface Judgement {
  readonly precision: number;
  readonly quality: number;
  /** Its position in the header. */
  readonly at: number;
}

/**
 * Chooses whole objects or metadata alone: the one with the higher weight, or else the one whose range is more specific, or
 * else the one that the caller names first. The API server does the same.
 */
function judgeBoth(accept: string, ranges: Ranges): Judgement & { readonly metadataOnly: boolean } {
  const whole = judge(accept, ranges, isWhole);
  const metadata = judge(accept, ranges, isMetadataOnly);
  const metadataOnly =
    metadata.quality > 0 &&
    (metadata.quality - whole.quality || metadata.precision - whole.precision || whole.at - metadata.at) > 0;
  return { ...(metadataOnly ? metadata : whole), metadataOnly };
}

/** Finds the most specific range that the caller named with fitting parameters, and its weight. */
function judge(accept: string, ranges: Ranges, isMeant: (parameters: Parameters) => boolean): Judgement {
  let best: Judgement = { precision: -1, quality: 0, at: -1 };
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

/** By name in lower case; of two with one name the last, as with the API server. */
type Parameters = ReadonlyMap<string, string>;

/** Reads `name;parameter=value;…`. Only values have a case. A parameter without a value says nothing, nor one with two. */
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
// A `*` alone, which Java's HttpURLConnection sends too, is any type.
const JSON_RANGES: Ranges = { '*': 0, '*/*': 0, 'application/*': 1, 'application/json': EXACT };
// They are for callers that name them.
const EVENT_RANGES: Ranges = { 'text/event-stream': EXACT };

/** The parameters by which the API server is asked for another form, and the value that asks for the usual one. */
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
 * The content coding of the answer (RFC 9110 12.5.3): gzip when the caller accepts it and does not prefer the plain
 * form, else the plain form, which is always available.
 */
export function chooseCoding(acceptEncoding: string | undefined): 'identity' | 'gzip' {
  if (acceptEncoding === undefined || !/gzip|\*/i.test(acceptEncoding)) return 'identity';
  const qualities: { gzip?: number; identity?: number; any?: number } = {};
  for (const item of acceptEncoding.split(',')) {
    const { name, parameters } = parseElement(item);
    const coding = CODINGS[name];
    // What is named twice has the greater weight, as a range of `Accept` has.
    if (coding) qualities[coding] = Math.max(qualities[coding] ?? 0, qualityOf(parameters));
  }
  const gzip = qualities.gzip ?? qualities.any ?? 0;
  return gzip > 0 && gzip >= (qualities.identity ?? 0) ? 'gzip' : 'identity';
}

const CODINGS: Readonly<Record<string, 'gzip' | 'identity' | 'any'>> = {
  gzip: 'gzip',
  'x-gzip': 'gzip',
  identity: 'identity',
  '*': 'any',
};

/**
 * The weight (RFC 9110 12.4.2), 1 where there is none. Clients write it in ways that the grammar does not know: Java's
 * HttpURLConnection sent `q=.2` in 17.0.9 still. So any decimal number counts, above 1 as 1, and what is no number counts as 1:
 * only a zero refuses.
 */
function qualityOf(parameters: Parameters): number {
  const text = parameters.get('q');
  return text !== undefined && DECIMAL.test(text) ? Math.min(1, Number(text)) : 1;
}

/** So many digits tell any two weights apart. */
const DECIMAL = /^(?:\d{1,9}\.?\d{0,9}|\.\d{1,9})$/;
