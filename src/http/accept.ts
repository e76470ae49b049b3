/**
 * Whether a caller takes `application/json` (RFC 9110 12.5.1): the most specific range that covers it decides.
 * `application/json;as=Table…` asks for a form that is not offered, so it covers nothing.
 */
export function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined || accept === '' || accept === '*/*' || accept === 'application/json') return true;
  return judge(accept, JSON_RANGES).quality > 0;
}

/**
 * The form of a stream: server-sent events for a caller that names them and likes nothing of JSON better, else JSON lines.
 * `undefined`: it takes neither.
 */
export function chooseStreamForm(accept: string | undefined): 'json' | 'events' | undefined {
  if (accept === undefined || !accept.includes('event-stream')) return acceptsJson(accept) ? 'json' : undefined;
  const events = judge(accept, EVENT_RANGES).quality;
  const json = judge(accept, JSON_RANGES);
  if (events > 0 && (events > json.quality || (events === json.quality && json.precision < EXACT))) return 'events';
  return json.quality > 0 ? 'json' : undefined;
}

/** The most specific of the ranges that the caller named, and the quality that it gave it. */
function judge(accept: string, ranges: Readonly<Record<string, number>>): { precision: number; quality: number } {
  let best = { precision: -1, quality: 0 };
  for (const range of accept.split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const precision = ranges[type];
    if (precision === undefined || parameters.some((parameter) => /^as\s*=/.test(parameter))) continue;
    const quality = qualityOf(parameters);
    if (precision > best.precision || (precision === best.precision && quality > best.quality)) {
      best = { precision, quality };
    }
  }
  return best;
}

const EXACT = 2;
const JSON_RANGES: Readonly<Record<string, number>> = { '*/*': 0, 'application/*': 1, 'application/json': EXACT };
const EVENT_RANGES: Readonly<Record<string, number>> = { '*/*': 0, 'text/*': 1, 'text/event-stream': EXACT };

/**
 * The content coding of the answer (RFC 9110 12.5.3): gzip when the caller takes it and does not prefer the plain form,
 * else plain, which is always there.
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

/** RFC 9110 12.4.2; a weight that cannot be read counts as 0. */
function qualityOf(parameters: readonly string[]): number {
  const weight = parameters.find((parameter) => /^q\s*=/.test(parameter));
  if (weight === undefined) return 1;
  const text = weight.slice(weight.indexOf('=') + 1).trim();
  return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(text) ? Number(text) : 0;
}
