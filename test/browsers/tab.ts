import type { Browser, BrowserContext, ConsoleMessage, HTTPResponse, Page } from 'puppeteer-core';
import { atEnd } from '../support/at-end.ts';

/** Enough for a machine that is busy with something else. */
const PATIENCE_MS = 60_000;

/** What a person sees of a page, and whether there is a script. */
export interface Look {
  readonly path: string;
  readonly title: string;
  readonly language: string;
  readonly heading: string | undefined;
  /** The text of the alert, if it can be seen. */
  readonly alert: string | undefined;
  /** The `id` or the text of the element that has the focus. */
  readonly focus: string;
  /** The values of the fields that can be seen, by their `id`. */
  readonly fields: Readonly<Record<string, string>>;
  readonly scripts: number;
}

/** Runs in the page. */
const LOOK = `(() => {
  const seen = (element) => element !== null && element.checkVisibility() ? element.innerText : undefined;
  const focused = document.activeElement;
  return {
    path: location.pathname,
    title: document.title,
    language: document.documentElement.lang,
    heading: seen(document.querySelector('h1')),
    alert: seen(document.querySelector('[role=alert]')),
    focus: focused.id || (focused === document.body ? '' : focused.innerText),
    fields: Object.fromEntries([...document.querySelectorAll('input[id]:not([type=hidden])')].map(({ id, value }) => [id, value])),
    scripts: document.querySelectorAll('script').length,
  };
})()`;

/** A tab of a browser. Tabs of one context share cookies. */
export class Tab {
  readonly page: Page;
  /** What the browser found wrong with our pages, such as a breach of the content security policy. */
  readonly complaints: string[] = [];

  private constructor(page: Page) {
    this.page = page;
    page.setDefaultTimeout(PATIENCE_MS);
    page.on('console', (message) => void (isComplaint(message) && this.complaints.push(message.text())));
    page.on('pageerror', (error) => void this.complaints.push(String(error)));
  }

  /** A tab that fails its test if Chromium finds something wrong with our pages, such as a breach of the policy or an error of a script. */
  static async of(context: BrowserContext): Promise<Tab> {
    const tab = new Tab(await context.newPage());
    atEnd(() => {
      const faults = tab.complaints.filter((complaint) => !EXPECTED.some((start) => complaint.startsWith(start)));
      if (faults.length > 0) throw new Error(`the browser complains: ${faults.join('\n')}`);
    });
    return tab;
  }

  async open(url: URL | string): Promise<HTTPResponse> {
    return answerOf(await this.page.goto(String(url)));
  }

  /** Types into fields, by their `id`, over what is there. A tab in the background does not draw, and a field is waited for by drawing. */
  async type(fields: Readonly<Record<string, string>>): Promise<void> {
    await this.page.bringToFront();
    for (const [id, text] of Object.entries(fields)) {
      await this.page.locator(`#${id}`).fill(text);
    }
  }

  /** Clicks, and waits for the page that follows. */
  async follow(selector: string): Promise<HTTPResponse> {
    const [answer] = await Promise.all([this.page.waitForNavigation(), this.page.click(selector)]);
    return answerOf(answer);
  }

  /** Types into the fields and clicks the button. */
  async submit(fields: Readonly<Record<string, string>> = {}, button = 'form button'): Promise<HTTPResponse> {
    await this.type(fields);
    return this.follow(button);
  }

  /** Presses the browser's button "back", and waits for nothing. */
  async back(): Promise<void> {
    await this.page.evaluate('history.back()');
  }

  /** The text of the page. */
  text = async (): Promise<string> => String(await this.page.evaluate('document.body.innerText'));

  look = async (): Promise<Look> => (await this.page.evaluate(LOOK)) as Look;
}

/** What Chromium says of an answer that is meant: the status 400 or 429, and, at times only, what a sign-out cleared. */
const NO_COMPLAINTS = [
  'Failed to load resource: the server responded with a status of 4',
  'Clear-Site-Data header on ',
];

/**
 * What tests cause on purpose: calls that are refused or fail, a frame of another site, and plain http at a host that is not this machine.
 * Firefox names what it forbids in other words, also while it leaves a page; its tests look at that themselves.
 */
const EXPECTED = [
  'Failed to load resource: ',
  'Framing ',
  'The Cross-Origin-Opener-Policy header has been ignored',
  'Error: Content-Security-Policy: ',
];

const isComplaint = (message: ConsoleMessage): boolean =>
  !NO_COMPLAINTS.some((start) => message.text().startsWith(start));

function answerOf(answer: HTTPResponse | null): HTTPResponse {
  if (answer === null) throw new Error('there was no answer');
  return answer;
}

/** A person with an empty browser: tabs that share cookies and nothing with other tests. */
export class Person {
  readonly context: BrowserContext;

  private constructor(context: BrowserContext) {
    this.context = context;
  }

  static async at(browser: Browser): Promise<Person> {
    const context = await browser.createBrowserContext();
    atEnd(() => context.close());
    return new Person(context);
  }

  tab = (): Promise<Tab> => Tab.of(this.context);
}
