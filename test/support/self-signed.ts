import { generateKeyPairSync, sign } from 'node:crypto';

/** One element of DER (X.690 8.1): tag, length, content. */
function der(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  const size = body.length;
  const length = size < 0x80 ? [size] : size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}

const SEQUENCE = 0x30;
const sequence = (...members: readonly Uint8Array[]): Buffer => der(SEQUENCE, ...members);
const integer = (value: number): Buffer => der(0x02, Buffer.from([value]));
const utcTime = (text: string): Buffer => der(0x17, Buffer.from(text));

const COMMON_NAME = Buffer.from('0603550403', 'hex'); // 2.5.4.3
const ALTERNATIVE_NAME = Buffer.from('0603551d11', 'hex'); // 2.5.29.17
const ECDSA_WITH_SHA256 = Buffer.from('06082a8648ce3d040302', 'hex'); // 1.2.840.10045.4.3.2

/** `YYMMDDhhmmssZ` (X.680 47.3). */
const toUtcTime = (date: Date): string => `${date.toISOString().replace(/^..|[-:T]|\..*/g, '')}Z`;

/** The names and the expiry of a certificate. By default it has one common name, and a DNS name that is equal to it. */
interface Names {
  readonly commonNames?: readonly string[];
  readonly dns?: readonly string[];
  readonly uris?: readonly string[];
  readonly emails?: readonly string[];
  /** IPv4; default: 127.0.0.1. */
  readonly addresses?: readonly string[];
  /** When it expires; default: in 2049. */
  readonly notAfter?: Date;
}

/** A self-signed certificate (RFC 5280 4.1) and its new key, in PEM. */
export function selfSigned(
  commonName: string,
  {
    commonNames = [commonName],
    dns = [commonName],
    uris = [],
    emails = [],
    addresses = ['127.0.0.1'],
    notAfter,
  }: Names = {},
): { readonly cert: string; readonly key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(ECDSA_WITH_SHA256);
  const name = sequence(...commonNames.map((one) => der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from(one))))));
  const validity = sequence(utcTime('200101000000Z'), utcTime(toUtcTime(notAfter ?? new Date('2049-01-01'))));
  const version3 = der(0xa0, integer(2));
  const keyInfo = publicKey.export({ type: 'spki', format: 'der' });
  const texts = (tag: number, values: readonly string[]) => values.map((value) => der(tag, Buffer.from(value)));
  const ips = addresses.map((address) => der(0x87, Buffer.from(address.split('.').map(Number))));
  const names = sequence(...texts(0x81, emails), ...texts(0x82, dns), ...texts(0x86, uris), ...ips);
  const extensions = der(0xa3, sequence(sequence(ALTERNATIVE_NAME, der(0x04, names))));
  const toBeSigned = sequence(version3, integer(1), algorithm, name, validity, name, keyInfo, extensions);
  const signature = der(0x03, Buffer.from([0]), sign('sha256', toBeSigned, privateKey));
  const certificate = sequence(toBeSigned, algorithm, signature)
    .toString('base64')
    .match(/.{1,64}/g);
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${certificate?.join('\n')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}
