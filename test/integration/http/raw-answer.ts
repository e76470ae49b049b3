/** The list of nodes, and a head that may have it. */
export const LIST = '/kapis/resources.gatehouse.io/v1alpha3/nodes';
export const HEAD = 'Host: a\r\nAuthorization: Bearer good\r\n';

interface RawAnswer {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** The first answer in what a raw connection got. */
export function parseAnswer(text: string): RawAnswer {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const [line = '', ...fields] = head.split('\r\n');
  const pairs = fields.map((field): [string, string] => [
    field.slice(0, field.indexOf(':')).toLowerCase(),
    field.slice(field.indexOf(':') + 2),
  ]);
  return { status: Number(line.split(' ')[1]), headers: new Map(pairs), body: rest.join('\r\n\r\n') };
}

/** The text of a refusal by the API. */
export const statusText = (code: number, reason: string, message: string): string =>
  `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"${message}","reason":"${reason}","code":${code}}`;
