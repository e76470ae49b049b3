/** A call as the console of KubeSphere 3.4 makes it, and what it got. */
export interface ConsoleCall {
  readonly path: string;
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: each assertion is its own check
  readonly body: any;
  /** Whether its page opens only with a 200. */
  readonly isNeeded: boolean;
}

interface Pair {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly expires_in: number;
}

/** What its server does for every page, and what the browser does on a page. */
type Asked = readonly [path: string, isNeeded?: 'needed'];

const CLIENT = { client_id: 'kubesphere', client_secret: 'kubesphere' };
const CONFIGS = '/kapis/config.kubesphere.io/v1alpha2/configs';
const IAM = '/kapis/iam.kubesphere.io/v1alpha2';
const RESOURCES = '/kapis/resources.kubesphere.io';
const TENANT = '/kapis/tenant.kubesphere.io';

/** The filters of a list that nobody has typed anything into are sent all the same, empty. */
const EMPTY_FILTERS = 'name=&page=1&sortBy=&ascending=';

/**
 * The calls of the console between the sign-in and its first pages, in its order and with its habits, as read in its sources: what it asks
 * for without a token, several calls at once, the refresh token as a bearer beside the form, and every node of the cluster on each page.
 */
export class ConsoleClient {
  readonly calls: ConsoleCall[] = [];
  readonly #origin: string;
  #pair: Pair | undefined;
  #me = '';

  constructor(origin: string) {
    this.#origin = origin;
  }

  /** The sign-in page, and the sign-in. Resolves with its status. */
  async signIn(username: string, password: string): Promise<number> {
    await this.#ask([`${CONFIGS}/oauth`], false);
    const form = { ...CLIENT, grant_type: 'password', username, password, encrypt: 'a2V5@@@' };
    const { status, body } = await this.#post(form, { 'x-client-ip': '192.0.2.7' });
    if (status === 200) this.#pair = body as Pair;
    this.#me = username;
    return status;
  }

  /** What its server asks for whenever a page is loaded. */
  async load(): Promise<void> {
    await this.#ask(['/api/v1/namespaces/kubesphere-system/configmaps/kubesphere-config']);
    await Promise.all([
      this.#ask([`${CONFIGS}/configz`, 'needed'], false),
      this.#ask(['/kapis/version', 'needed'], false),
    ]);
    await this.#all([
      [`${IAM}/users/${this.#me}`, 'needed'],
      [`${IAM}/users/${this.#me}/globalroles`],
      ['/kapis/version', 'needed'],
      [`${TENANT}/v1alpha3/workspacetemplates?limit=10`, 'needed'],
      ['/api/v1/nodes'],
      [`${CONFIGS}/gpu/kinds`],
    ]);
  }

  /** The home page of the platform, and the list of nodes, in the browser. */
  async nodes(): Promise<void> {
    await this.#all([
      ['/kapis/monitoring.kubesphere.io/v1alpha3/cluster?metrics_filter=cluster_cpu_usage%7Ccluster_pod_count%24'],
      [`${IAM}/clustermembers/${this.#me}/clusterroles`],
      [
        `${RESOURCES}/v1alpha3/namespaces?labelSelector=!kubesphere.io/devopsproject&sortBy=createTime&limit=10`,
        'needed',
      ],
      [`${RESOURCES}/v1alpha2/components`],
    ]);
    const edge = 'labelSelector=!node-role.kubernetes.io/edge';
    await this.#all([
      [`${RESOURCES}/v1alpha3/nodes?sortBy=createTime&limit=10&${edge}`],
      [`${RESOURCES}/v1alpha3/nodes?${EMPTY_FILTERS}&limit=10&${edge}`],
      [`${RESOURCES}/v1alpha3/nodes?sortBy=name&ascending=true&limit=10&page=2`],
      [`${RESOURCES}/v1alpha3/nodes?labelSelector=node-role.kubernetes.io/master`],
      ['/kapis/monitoring.kubesphere.io/v1alpha3/nodes?resources_filter=a%7Cb&metrics_filter=node_cpu_usage%24'],
    ]);
  }

  /** The page of a node. */
  async node(name: string): Promise<void> {
    await this.#all([
      [`${RESOURCES}/v1alpha3/nodes/${name}`],
      [`${RESOURCES}/v1alpha3/pods?nodeName=${name}&sortBy=startTime&limit=6`],
      [`/api/v1/events?fieldSelector=involvedObject.name=${name}`],
    ]);
  }

  /** The home of a workspace, and the overview of one of its namespaces. */
  async workspace(workspace: string, namespace: string): Promise<void> {
    const selector = 'labelSelector=kubefed.io/managed!=true,%20kubesphere.io/kubefed-host-namespace!=true';
    await this.#all([
      [`${TENANT}/v1alpha3/workspacetemplates/${workspace}`, 'needed'],
      [`${IAM}/workspaces/${workspace}/workspacemembers/${this.#me}/workspaceroles`],
      [`${TENANT}/v1alpha2/workspaces/${workspace}/namespaces?${selector}&sortBy=createTime&limit=10`, 'needed'],
      [`${TENANT}/v1alpha2/workspaces/${workspace}/clusters`],
    ]);
    await this.#all([
      [`${TENANT}/v1alpha2/workspaces/${workspace}/namespaces/${namespace}`],
      [`${IAM}/namespaces/${namespace}/members/${this.#me}/roles`],
      [`${RESOURCES}/v1alpha2/namespaces/${namespace}/quotas`],
      [`${RESOURCES}/v1alpha2/namespaces/${namespace}/abnormalworkloads`],
      [`/kapis/monitoring.kubesphere.io/v1alpha3/namespaces/${namespace}?metrics_filter=x%24`],
    ]);
  }

  /** The list of users, as an administrator sees it. */
  async users(): Promise<void> {
    await this.#all([[`${IAM}/users?sortBy=createTime&limit=10`], [`${IAM}/globalroles?limit=-1`]]);
  }

  /**
   * Asks whether there is an object of a name that somebody types into a form, or an item in a list. The browser marks this question for the
   * console's server (`x-check-exist`), which turns the answer into yes or no: every refusal is a no.
   */
  async exists(path: string): Promise<boolean> {
    await this.#ask([path]);
    const { status, body } = this.calls.at(-1) as ConsoleCall;
    if (status !== 200) return false;
    return Array.isArray(body?.items) ? body.items.length > 0 : true;
  }

  existsUser = (name: string): Promise<boolean> => this.exists(`${IAM}/users/${name}`);
  existsEmail = (address: string): Promise<boolean> => this.exists(`${IAM}/users?email=${encodeURIComponent(address)}`);
  existsWorkspace = (name: string): Promise<boolean> => this.exists(`${TENANT}/v1alpha3/workspacetemplates/${name}`);
  existsProject = (name: string): Promise<boolean> => this.exists(`/api/v1/namespaces/${name}`);

  /** Signs out. Resolves with the status of that, and of the next page. */
  async signOut(): Promise<readonly (number | undefined)[]> {
    await this.#ask(['/oauth/logout']);
    const signedOut = this.calls.at(-1)?.status;
    await this.#ask([`${IAM}/users/${this.#me}`]);
    return [signedOut, this.calls.at(-1)?.status];
  }

  /** What 3.4 has and this server does not offer. */
  async others(): Promise<void> {
    await this.#all([
      ['/kapis/servicemesh.kubesphere.io/v1alpha2/namespaces/red/strategies'],
      ['/kapis/openpitrix.io/v1/categories'],
      ['/kapis/notification.kubesphere.io/v2beta1/configs'],
      ['/kapis/devops.kubesphere.io/v1alpha3/ci/clustersteptemplates'],
    ]);
  }

  /**
   * Five calls find that the token ends soon, and refresh it at once. Resolves with their statuses. The browser keeps the answer whose cookies
   * come last, which may be any one of them.
   */
  async refreshAtOnce(kept = 4): Promise<readonly number[]> {
    const token = this.#pair?.refresh_token ?? '';
    const form = { ...CLIENT, grant_type: 'refresh_token', refresh_token: token };
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => this.#post(form, { authorization: `Bearer ${token}` })),
    );
    const last = answers[kept];
    if (last?.status === 200) this.#pair = last.body as Pair;
    return answers.map(({ status }) => status);
  }

  /** The calls that would have sent the browser to the sign-in page, and those without which their page does not open. */
  get failures(): readonly string[] {
    return this.calls
      .filter(({ status, body, isNeeded }) => {
        const signsOut = status === 401 || body?.reason === 'Unauthorized';
        return signsOut || status >= 500 || (isNeeded && status !== 200);
      })
      .map(({ path, status }) => `${status} ${path}`);
  }

  statusOf(part: string): number | undefined {
    return this.calls.findLast(({ path }) => path.includes(part))?.status;
  }

  bodyOf(part: string): ConsoleCall['body'] {
    return this.calls.findLast(({ path }) => path.includes(part))?.body;
  }

  async #all(asked: readonly Asked[]): Promise<void> {
    await Promise.all(asked.map((one) => this.#ask(one)));
  }

  async #ask([path, needed]: Asked, withToken = true): Promise<void> {
    const token = this.#pair?.access_token;
    const headers = { 'content-type': 'application/json', ...(withToken && { authorization: `Bearer ${token}` }) };
    const answer = await fetch(this.#origin + path, { headers });
    this.calls.push({ path, status: answer.status, body: await bodyOf(answer), isNeeded: needed === 'needed' });
  }

  async #post(form: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>>) {
    const answer = await fetch(`${this.#origin}/oauth/token`, {
      ...{ method: 'POST', headers },
      body: new URLSearchParams(form),
    });
    return { status: answer.status, body: await bodyOf(answer) };
  }
}

async function bodyOf(answer: Response): Promise<ConsoleCall['body']> {
  const text = await answer.text();
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
