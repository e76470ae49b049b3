import type { DeviceAuthorization, TokenResponse } from '../../../../src/oauth/authorization-server.ts';
import type { BrowserAnswer } from '../../../../src/oauth/authorize/browser-answer.ts';
import type { StoredRecords } from '../../../../src/oauth/device/device-records.ts';
import { type Client, DEVICE_GRANT, type OAuthOptions } from '../../../../src/oauth/options.ts';
import type { User } from '../../../../src/users/user.ts';
import { formRequest, newTestServer, ORIGIN, type TestServer, testOptions, until } from '../test-server.ts';

const OF_DEVICES = { grantTypes: [DEVICE_GRANT, 'refresh_token'], redirectURIs: [], postLogoutRedirectURIs: [] };
const clients: readonly Client[] = [
  ...testOptions.clients,
  { name: 'tv', public: true, ...OF_DEVICES },
  { name: 'closed', public: true, grantMethod: 'deny', ...OF_DEVICES },
  { name: 'box', secret: 'made-up-secret-of-box', public: false, ...OF_DEVICES },
];

/** An authorization server with clients for devices. */
export const newDeviceServer = (change: Partial<OAuthOptions> = {}, records?: StoredRecords): Promise<TestServer> =>
  newTestServer({ clients, ...change }, records);

const endpointsOf = ({ server }: TestServer) => {
  if (!server.devices || !server.browser) throw new Error('there is no device grant');
  const { signIn, newPassword } = server.browser;
  return { ...server.devices, signIn, newPassword };
};

/** What a device asks with. */
export const askWith = (
  test: TestServer,
  form: Record<string, string> = {},
  source = ORIGIN.source,
): Promise<DeviceAuthorization> =>
  endpointsOf(test).authorizeDevice(formRequest({ client_id: 'tv', scope: 'openid', ...form }, { source }));

/** One poll. */
export const poll = (
  { server }: TestServer,
  { device_code }: Pick<DeviceAuthorization, 'device_code'>,
  form: Record<string, string> = {},
): Promise<TokenResponse> =>
  server.token(formRequest({ grant_type: DEVICE_GRANT, client_id: 'tv', device_code, ...form }));

const BROWSER = 'browser-of-alice-1234';
const CONTEXT = { ...ORIGIN, signal: new AbortController().signal };

/** A person at a browser. */
export class Person {
  readonly #test: TestServer;
  readonly #source: string;
  session: string | undefined;

  constructor(test: TestServer, source = ORIGIN.source) {
    this.#test = test;
    this.#source = source;
  }

  /** Opens the page with this query. */
  visit(query = ''): Promise<BrowserAnswer> {
    const request = { ...CONTEXT, source: this.#source, query, browser: BROWSER, session: this.session };
    return endpointsOf(this.#test).visit(request);
  }

  async signIn(username = 'alice'): Promise<this> {
    const answer = await this.post('signIn', await this.visit('prompt=login'), { username, password: 'Made-up-1' });
    this.session = answer.session;
    return this;
  }

  /** Posts the form of this page. */
  post(
    to: 'signIn' | 'newPassword' | 'code' | 'decide',
    page: BrowserAnswer,
    fields: Record<string, string>,
    browser: string | undefined = BROWSER,
  ): Promise<BrowserAnswer> {
    const request = 'request' in page ? page.request : '';
    const body = Buffer.from(new URLSearchParams({ request, ...fields }).toString());
    const http = { ...CONTEXT, source: this.#source, address: this.#source, userAgent: 'Browser/1' };
    return endpointsOf(this.#test)[to]({ ...http, body, browser, session: this.session });
  }

  /** Types a code, and waits as long as the page may. */
  async type(user_code: string, page?: BrowserAnswer): Promise<BrowserAnswer> {
    const answer = await this.#typed(user_code, page);
    await this.#test.clock.advance(12_000);
    return answer.value;
  }

  /** Types a code with which a device polls. */
  async typeFor(device: DeviceAuthorization, form: Record<string, string> = {}): Promise<BrowserAnswer> {
    const answer = await this.#typed(device.user_code);
    await this.#test.clock.advance(5000);
    await poll(this.#test, device, form).catch(() => undefined);
    return answer.value;
  }

  /** The answer to a typed code, once it is there or waits for a device. */
  async #typed(user_code: string, page?: BrowserAnswer): Promise<{ readonly value: Promise<BrowserAnswer> }> {
    const form = page ?? (await this.visit());
    const { clock } = this.#test;
    const before = clock.pendingTimers;
    let isAnswered = false;
    const value = this.post('code', form, { user_code }).finally(() => {
      isAnswered = true;
    });
    await until(() => isAnswered || clock.pendingTimers > before);
    return { value };
  }

  decide(page: BrowserAnswer, decision = 'allow', browser: string | undefined = BROWSER): Promise<BrowserAnswer> {
    return this.post('decide', page, { decision }, browser);
  }

  /** Opens the address that a device shows as a picture, and allows it. */
  async allow({ verification_uri_complete }: DeviceAuthorization, decision = 'allow'): Promise<BrowserAnswer> {
    return this.decide(await this.visit(queryOf(verification_uri_complete)), decision);
  }
}

export const queryOf = (address: string): string => new URL(address).search.slice(1);

/** Adds a user, or changes alice. */
export const changeUser = (test: TestServer, more: Partial<User>): void => {
  const changed = { ...(test.users.get('alice') as User), ...more };
  test.users.set(changed.name, changed);
};
