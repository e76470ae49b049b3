import { type Ask, Connection, type FullAnswer, requestBytes, type Target } from './connection.ts';
import { from } from './sign-ins.ts';
import { secondsBetween, serverShareOf, usageNow } from './usage.ts';

/** Browsers that sign in again and again, each on a connection of its own, as people without a cookie do: page, form, redemption of the code. */
export interface BrowserPlan {
  readonly target: Target;
  readonly page: Ask;
  /** The form of the page, without the cookie and the fields. */
  readonly form: Ask;
  /** The redemption without the code, which is appended to its body. */
  readonly redemption: Ask;
  /** What is typed, in this order again and again; each browser begins at another one. */
  readonly people: readonly Typed[];
  readonly browsers: number;
  readonly measureMs: number;
  readonly serverPid?: number;
}

export interface Typed {
  readonly username: string;
  readonly password: string;
}

export interface BrowserReport {
  /** How many sign-ins ended with each status: 200 is a redemption, every other one may be that of any step. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly seconds: number;
  /** The server's processor time, as a share of one core; above 1 if the server uses several. */
  readonly serverShare?: number;
}

/** Signs in until the time is over, whatever the answers are. Rejects on the first broken connection. */
export async function runBrowsers(plan: BrowserPlan): Promise<BrowserReport> {
  const connections = await Promise.all(Array.from({ length: plan.browsers }, () => Connection.open(plan.target)));
  try {
    const statuses: Record<string, number> = {};
    const first = usageNow(plan.serverPid);
    const endAt = first.at + plan.measureMs;
    const browse = async (connection: Connection, index: number): Promise<void> => {
      const browser = new Browser(plan, connection, index);
      for (let nth = index; performance.now() < endAt; nth++) {
        const status = await browser.signIn(plan.people[nth % plan.people.length] as Typed);
        statuses[status] = (statuses[status] ?? 0) + 1;
      }
    };
    await Promise.all(connections.map(browse));
    const last = usageNow(plan.serverPid);
    return { statuses, seconds: secondsBetween(first, last), ...serverShareOf(first, last) };
  } finally {
    for (const connection of connections) connection.close();
  }
}

/** A browser that forgets its cookie after each sign-in. */
class Browser {
  readonly #plan: BrowserPlan;
  readonly #connection: Connection;
  readonly #index: number;

  constructor(plan: BrowserPlan, connection: Connection, index: number) {
    this.#plan = plan;
    this.#connection = connection;
    this.#index = index;
  }

  /** Resolves to the status of the first step that does not lead on, else of the last one. */
  async signIn(typed: Typed): Promise<number> {
    const { form, redemption } = this.#plan;
    const page = await this.#fetch(this.#plan.page);
    if (page.status !== 200) return page.status;
    const headers = { ...form.headers, cookie: cookieOf(page) };
    const body = new URLSearchParams({ request: requestOf(page), ...typed }).toString();
    const answer = await this.#fetch({ ...form, headers, body });
    if (answer.status !== 303) return answer.status;
    return (await this.#fetch({ ...redemption, body: `${redemption.body ?? ''}&code=${codeOf(answer)}` })).status;
  }

  #fetch(ask: Ask): Promise<FullAnswer> {
    return this.#connection.fetch(requestBytes(this.#plan.target, from(this.#index, ask)));
  }
}

const cookieOf = ({ head }: FullAnswer): string => found(/\r\nset-cookie: *([^;\r]+)/i, head);

/** The sealed request in the form of the page. */
const requestOf = ({ content }: FullAnswer): string => found(/name="request" value="([^"]+)"/, content.toString());

const codeOf = ({ head }: FullAnswer): string => found(/\r\nlocation: *\S*[?&]code=([^&\r]+)/i, head);

function found(pattern: RegExp, text: string): string {
  const [, value] = pattern.exec(text) ?? [];
  if (value === undefined) throw new Error(`an answer has no ${pattern.source}`);
  return value;
}
