/** Who signs in, and with which clients, at both servers alike. All of it is made up. */

export interface Person {
  readonly name: string;
  readonly email: string;
  readonly password: string;
}

export const ada: Person = { name: 'ada', email: 'ada@example.com', password: 'Made-up-password-1' };

/** A password that is not the same in every encoding. */
export const zoe: Person = { name: 'zoe', email: 'zoe@example.com', password: ' p+ä %41&=€ ' };

export const people: readonly Person[] = [ada, zoe];

export interface TestClient {
  readonly id: string;
  /** None: a public client. */
  readonly secret?: string;
  readonly grantTypes: readonly string[];
}

const GRANTS = ['password', 'refresh_token'];

export const consoleClient: TestClient = { id: 'console', secret: 'made-up-secret-of-console', grantTypes: GRANTS };

/** A secret that Basic must carry form-encoded (RFC 6749 2.3.1). */
export const odd: TestClient = { id: 'odd client', secret: 'p:a%ss +word&=1 made up', grantTypes: GRANTS };

export const refreshOnly: TestClient = {
  id: 'refresh-only',
  secret: 'made-up-secret-of-another',
  grantTypes: ['refresh_token'],
};

export const app: TestClient = { id: 'app', grantTypes: ['refresh_token'] };

export const clients: readonly TestClient[] = [consoleClient, odd, refreshOnly, app];

/** RFC 6749 2.3.1: each part form-encoded, then base64 of the two with a colon between. */
export const basic = ({ id, secret = '' }: Pick<TestClient, 'id' | 'secret'>): string =>
  `Basic ${Buffer.from(`${formEncoded(id)}:${formEncoded(secret)}`).toString('base64')}`;

export const formEncoded = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1);
