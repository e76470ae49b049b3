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
 * `as=PartialObjectMetadata;g=meta.k8s.io;v=v1` with a higher weight than whole objects, or first, as with the API
 * server. `undefined`: the caller accepts neither form.
 */
export function chooseStreamForm(accept = '*/*'): StreamForm | undefined {
  const json = judgeBoth(accept === '' ? '*/*' : accept, JSON_RANGES);
  const events = judgeBoth(accept, EVENT_RANGES);
  const isNamed = accept.includes('event-stream') && events.quality > 0;
  if (isNamed && (events.quality > json.quality || (events.quality === json.quality && json.precision < EXACT))) {
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
 * Chooses whole objects or metadata alone: the one with the higher weight, or else the one that the caller names first.
 */
function judgeBoth(accept: string, ranges: Ranges): Judgement & { readonly metadataOnly: boolean } {
  const whole = judge(accept, ranges, isWhole);
  const metadata = judge(accept, ranges, isMetadataOnly);
  const isFirst = whole.precision < EXACT || metadata.at < whole.at;
  const metadataOnly =
    metadata.quality > 0 && (metadata.quality > whole.quality || (metadata.quality === whole.quality && isFirst));
  return { ...(metadataOnly ? metadata : whole), metadataOnly };
}

/** Finds the most specific range that the caller named with fitting parameters, and its weight. */
function judge(accept: string, ranges: Ranges, isMeant: (parameters: readonly string[]) => boolean): Judgement {
  let best: Judgement = { precision: -1, quality: 0, at: -1 };
  for (const [at, range] of accept.split(',').entries()) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const precision = ranges[type];
    if (precision === undefined || !isMeant(parameters)) continue;
    const quality = qualityOf(parameters);
    if (precision > best.precision || (precision === best.precision && quality > best.quality)) {
      best = { precision, quality, at };
    }
  }
  return best;
}

type Ranges = Readonly<Record<string, number>>;
const EXACT = 2;
// A `*` alone, which Java's HttpURLConnection sends too, is any type.
const JSON_RANGES: Ranges = { '*': 0, '*/*': 0, 'application/*': 1, 'application/json': EXACT };
const EVENT_RANGES: Ranges = { '*': 0, '*/*': 0, 'text/*': 1, 'text/event-stream': EXACT };

const isWhole = (parameters: readonly string[]): boolean => !parameters.some((parameter) => /^as\s*=/.test(parameter));
const isMetadataOnly = (parameters: readonly string[]): boolean =>
  ['as=partialobjectmetadata', 'g=meta.k8s.io', 'v=v1'].every((parameter) => parameters.includes(parameter));

/**
 * The content coding of the answer (RFC 9110 12.5.3): gzip when the caller accepts it and does not prefer the plain
 * form, else the plain form, which is always available.
 */
export function chooseCoding(acceptEncoding: string | undefined): 'identity' | 'gzip' {
  if (acceptEncoding === undefined || !/gzip|\*/i.test(acceptEncoding)) return 'identity';
  const qualities: { gzip?: number; identity?: number; any?: number } = {};
  for (const item of acceptEncoding.split(',')) {
    const [coding = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
    if (coding === 'gzip' || coding === 'x-gzip') qualities.gzip = qualityOf(parameters);
    else if (coding === 'identity') qualities.identity = qualityOf(parameters);
    else if (coding === '*') qualities.any = qualityOf(parameters);
  }
  const gzip = qualities.gzip ?? qualities.any ?? 0;
  return gzip > 0 && gzip >= (qualities.identity ?? 0) ? 'gzip' : 'identity';
}

/**
 * The weight (RFC 9110 12.4.2), or 1 without one. Clients write it in ways that the grammar does not know: Java's
 * HttpURLConnection sent `q=.2` up to 17.0.7. So any decimal number counts, above 1 as 1, and what is no number counts as 1:
 * only a zero refuses.
 */
function qualityOf(parameters: readonly string[]): number {
  const weight = parameters.find((parameter) => /^q\s*=/.test(parameter));
  if (weight === undefined) return 1;
  const text = weight.slice(weight.indexOf('=') + 1).trim();
  return DECIMAL.test(text) ? Math.min(1, Number(text)) : 1;
}

const DECIMAL = /^(?:\d{1,9}\.?\d{0,9}|\.\d{1,9})$/;
