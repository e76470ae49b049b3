/**
 * Whether a caller takes `application/json` (RFC 9110 12.5.1): the most specific range that covers it decides.
 * `application/json;as=Table…` asks for a form that is not offered, so it covers nothing.
 */
export function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined || accept === '' || accept === '*/*' || accept === 'application/json') return true;
  let best = { precision: -1, quality: 0 };
  for (const range of accept.split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const precision = PRECISION[type];
    if (precision === undefined || parameters.some((parameter) => /^as\s*=/.test(parameter))) continue;
    const quality = qualityOf(parameters);
    if (precision > best.precision || (precision === best.precision && quality > best.quality)) {
      best = { precision, quality };
    }
  }
  return best.quality > 0;
}

const PRECISION: Readonly<Record<string, number>> = { '*/*': 0, 'application/*': 1, 'application/json': 2 };

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
