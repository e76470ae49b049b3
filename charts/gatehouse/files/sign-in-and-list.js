// Runs in the pod of "helm test": asks whether Gatehouse is ready, signs in, and lists nodes at the Service. Ends with code 1 and
// one line of reason when something is not as it should be. Says no password and no token.
const { existsSync, readFileSync } = require('node:fs');
const { env } = process;
const url = new URL(env.GATEHOUSE_URL);
/** The Service's own address. Where the kubelet put none in, its name has to do. */
const host = env.ADDRESS && !env.ADDRESS.startsWith('$') ? env.ADDRESS : url.hostname;
const { request } = url.protocol === 'https:' ? require('node:https') : require('node:http');
/** A file of the mounted Secrets; a newline at its end does not count. */
function read(file) {
  const path = `${env.CREDENTIALS}/${file}`;
  return existsSync(path) ? readFileSync(path, 'utf8').replace(/\n$/, '') : undefined;
}

// The very certificate of the Service is trusted and nothing else, whatever names it has and whoever signed it.
const tls = env.CERTIFICATE && {
  servername: url.hostname,
  ca: readFileSync(env.CERTIFICATE),
  allowPartialTrustChain: true,
  checkServerIdentity: () => undefined,
};

function ask(method, path, { headers = {}, body } = {}) {
  return new Promise((resolve, reject) => {
    const to = { host, port: url.port, path, method, headers: { host: url.host, ...headers } };
    const sent = request({ ...to, timeout: 10_000, ...tls }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part) => (text += part));
      answer.on('error', reject).on('end', () => resolve({ status: answer.statusCode, text }));
    });
    sent.on('timeout', () => sent.destroy(new Error('no answer within 10 s'))).on('error', reject).end(body);
  });
}

async function expectStatus(status, what, answer) {
  const { status: got, text } = await answer;
  if (got !== status) throw new Error(`${what} was answered ${got} instead of ${status}`);
  console.log(`${what}: ${status}`);
  return text;
}

/** How long a Service may refuse connections whose pod was ready a moment ago: as long as nodes take to hear of the pod. */
const REFUSED_MS = 30_000;

async function askWhetherReady() {
  const giveUpAt = Date.now() + REFUSED_MS;
  while (true) {
    const asked = ask('GET', '/readyz');
    const error = await asked.then(() => undefined, (reason) => reason);
    if (error?.code !== 'ECONNREFUSED' || Date.now() > giveUpAt) return asked;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

async function signInAndList() {
  const nodes = `/kapis/resources.${env.PLATFORM}.io/v1alpha3/nodes?limit=1`;
  await expectStatus(200, 'GET /readyz', askWhetherReady());
  await expectStatus(401, 'a list without a token', ask('GET', nodes));
  if (!env.CREDENTIALS) return console.log('nobody can sign in here: set helmTest.existingSecret');
  const client = [read('clientId') ?? env.PLATFORM, read('clientSecret') ?? env.PLATFORM];
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    authorization: `Basic ${Buffer.from(client.map(encodeURIComponent).join(':')).toString('base64')}`,
  };
  const form = { grant_type: 'password', username: read('username') ?? env.USERNAME, password: read('password') ?? '' };
  const body = new URLSearchParams(form).toString();
  const token = JSON.parse(await expectStatus(200, 'the sign-in', ask('POST', '/oauth/token', { headers, body })));
  const bearer = { authorization: `Bearer ${token.access_token}` };
  const list = JSON.parse(await expectStatus(200, 'the list of nodes', ask('GET', nodes, { headers: bearer })));
  console.log(`the cluster has ${list.totalItems} nodes`);
  await expectStatus(200, 'the sign-out', ask('GET', '/oauth/logout', { headers: bearer }));
}

signInAndList().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
