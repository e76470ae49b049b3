import type { Clock } from '../../runtime/clock.ts';
import type { SecurityEvents } from '../../security-events.ts';
import { digestOf } from '../authorize/authorization-code.ts';
import { asAct } from '../authorize/browser-act.ts';
import type {
  BrowserAnswer,
  BrowserForm,
  BrowserVisit,
  DeviceCodePage,
  DevicePages,
} from '../authorize/browser-answer.ts';
import type { LiveBrowserSession } from '../authorize/browser-session.ts';
import type { PageSignIn } from '../authorize/page-sign-in.ts';
import { readLocales } from '../authorize/ui-locales.ts';
import { type Form, parameter, parseForm, parseQuery } from '../endpoints/form.ts';
import { notAvailable, throttled } from '../endpoints/refusals.ts';
import type { OAuthOptions } from '../options.ts';
import type { TokenData } from '../token-data.ts';
import type { Act } from '../tokens/act.ts';
import { CodeGuesses } from './code-guesses.ts';
import { askPage, codePage, devicePath, type PendingDevice, type PendingDevices } from './device-page.ts';
import type { DeviceRecords } from './device-records.ts';
import { type DeviceValues, endOf, mayUseDevices, type ShownRequest } from './device-request.ts';
import { readUserCode } from './user-code.ts';

export interface DevicePageParts {
  readonly signIn: PageSignIn;
  readonly values: Pick<DeviceValues, 'requests'>;
  readonly pages: PendingDevices;
  readonly deviceRecords: Pick<DeviceRecords, 'read' | 'claim' | 'attached' | 'unclaim' | 'decide'>;
  readonly data: Pick<TokenData, 'check'>;
  readonly clock: Clock;
  readonly events: SecurityEvents;
}

/**
 * The longest wait for a device that asks with a typed code. A device polls every 5 s; one that was told once to slow down, every
 * 10 s; and another replica may learn of it a moment later.
 */
const LONGEST_WAIT_MS = 12_000;

/** How long people wait if there are too many records. Some records end each minute. */
const BUSY_SECONDS = 60;

/** The pages on which a signed-in person allows a device (RFC 8628 3.3). */
export function createDevicePages(options: OAuthOptions, parts: DevicePageParts): DevicePages {
  const take = createTypedCode(options, parts);
  const handle =
    (answer: (form: BrowserForm, fields: Form, act: Act) => Promise<BrowserAnswer>) =>
    (form: BrowserForm): Promise<BrowserAnswer> =>
      asAct(parts.events, form, async (act) => {
        parts.data.check();
        return answer(form, parseForm(form.body), act);
      });
  return {
    visit: (visit) => asAct(parts.events, visit, async () => visited(visit, options, parts)),
    code: handle(take),
    decide: handle((form, fields, act) => decide({ form, fields, act }, options, parts)),
  };
}

function visited(
  visit: BrowserVisit & { readonly browser: string },
  options: OAuthOptions,
  { signIn, ...parts }: DevicePageParts,
): BrowserAnswer {
  parts.data.check();
  const query = parseQuery(visit.query);
  if (!query) return { kind: 'fault', fault: 'malformed' };
  const userCode = readUserCode(parameter(query, 'user_code') ?? '');
  const sealed = parameter(query, 'request');
  const opened = sealed === undefined ? undefined : parts.values.requests.open(sealed);
  const request = opened && sealed; // nothing that is not ours is handed on
  const locales = readLocales(parameter(query, 'ui_locales'));
  const live = signIn.live(visit.session);
  const browser = digestOf(visit.browser);
  if (!live || parameter(query, 'prompt') !== undefined)
    return signIn.page({ visit: devicePath(locales, { userCode, request }), browser, locales }, live);
  const pending = { browser, locales, sid: live.session.sid, user: live.user.name };
  if (opened && isOpen(opened, options, parts)) return askPage({ ...pending, shown: opened }, request, parts);
  const problem: Pick<DeviceCodePage, 'problem'> = sealed === undefined ? {} : { problem: 'expired' };
  return codePage(pending, { userCode: userCode ?? '', ...problem }, parts);
}

/** Whether the request can still be allowed. */
const isOpen = (shown: ShownRequest, options: OAuthOptions, { clock }: Pick<DevicePageParts, 'clock'>): boolean =>
  endOf(shown) > clock.now() / 1000 && mayUseDevices(options, shown.clientId);

/** What the form carries, and the person, who still has the session for which the page was made. */
type Opened =
  | { readonly pending: PendingDevice; readonly live: LiveBrowserSession }
  | { readonly again: BrowserAnswer };

function openPage(
  { browser, session }: BrowserForm,
  fields: Form,
  { pages, signIn }: Pick<DevicePageParts, 'pages' | 'signIn'>,
): Opened {
  const pending = pages.open(parameter(fields, 'request') ?? '');
  if (!pending) return { again: { kind: 'fault', fault: 'device_over', again: devicePath([], {}) } };
  const path = devicePath(pending.locales, { userCode: pending.shown?.userCode });
  if (browser === undefined || digestOf(browser) !== pending.browser)
    return { again: { kind: 'fault', fault: 'lost_cookie', again: path } };
  const live = signIn.live(session);
  return live?.session.sid === pending.sid ? { pending, live } : { again: { kind: 'redirect', location: path } };
}

/**
 * Finds the device that shows the typed code. Nothing about it is stored anywhere until the person's record claims the code; then the
 * next poll of the device brings its details (decision 39).
 */
function createTypedCode(options: OAuthOptions, parts: DevicePageParts) {
  const { deviceRecords: records, clock } = parts;
  const guesses = new CodeGuesses(clock);
  return async (form: BrowserForm, fields: Form): Promise<BrowserAnswer> => {
    const opened = openPage(form, fields, parts);
    if ('again' in opened) return opened.again;
    const { pending } = opened;
    const typed = parameter(fields, 'user_code') ?? '';
    const page = (problem: Required<Pick<DeviceCodePage, 'problem'>> & Pick<DeviceCodePage, 'retryAfterSeconds'>) =>
      codePage(pending, { userCode: typed.slice(0, LONGEST_TYPED), ...problem }, parts);
    const userCode = readUserCode(typed);
    if (userCode === undefined) return page({ problem: 'malformed' });
    const waitMs = guesses.waitMs(pending.user, form.source);
    if (waitMs > 0) return page({ problem: 'throttled', retryAfterSeconds: Math.ceil(waitMs / 1000) });
    const guess = guesses.add(pending.user, form.source);
    const claimed = await records.claim(userCode, pending.user).catch((error: unknown) => {
      guess.takeBack();
      throw notAvailable(error);
    });
    if (claimed === 'full') {
      guess.takeBack();
      return page({ problem: 'busy', retryAfterSeconds: BUSY_SECONDS });
    }
    const shown = await findDevice(userCode, form.signal, parts);
    if (!shown || !isOpen(shown, options, parts)) return page({ problem: 'unknown' });
    guess.takeBack();
    return askPage({ ...pending, shown }, undefined, parts);
  };
}

/** The most characters of a typed text that the page shows again. */
const LONGEST_TYPED = 32;

/** The request of the device, if one asks with this code and nobody has decided about it. */
async function findDevice(
  userCode: string,
  signal: AbortSignal,
  { deviceRecords: records }: Pick<DevicePageParts, 'deviceRecords'>,
): Promise<ShownRequest | undefined> {
  const device = await records.attached(userCode, LONGEST_WAIT_MS, signal);
  if (device) return records.read(userCode)?.decision ? undefined : { ...device, userCode };
  await records.unclaim(userCode).catch(() => {}); // it ends by itself
  return undefined;
}

async function decide(
  { form, fields, act }: { readonly form: BrowserForm; readonly fields: Form; readonly act: Act },
  options: OAuthOptions,
  parts: DevicePageParts,
): Promise<BrowserAnswer> {
  const opened = openPage(form, fields, parts);
  if ('again' in opened) return opened.again;
  const { pending, live } = opened;
  const over: BrowserAnswer = { kind: 'fault', fault: 'device_over', again: devicePath(pending.locales, {}) };
  if (!pending.shown || !isOpen(pending.shown, options, parts)) return over;
  const { userCode, ...device } = pending.shown;
  const isAllowed = parameter(fields, 'decision') === 'allow';
  act.is(isAllowed ? 'device_authorized' : 'device_refused');
  act.involves({ user: live.user.name, clientId: device.clientId, sid: device.sid });
  act.says({ asked: device.address });
  const written = await parts.deviceRecords
    .decide(userCode, device, { isAllowed, ...decisionOf(live, parts.clock) })
    .catch((error: unknown) => {
      throw notAvailable(error);
    });
  if (written === 'full') throw throttled('tooManyDecisions', BUSY_SECONDS);
  if (written === 'over') {
    act.came('refused');
    return over;
  }
  return { kind: 'device-done', isAllowed, clientId: device.clientId, locales: pending.locales };
}

/** The clock of the replica at which the password was entered may be ahead of ours. */
const decisionOf = ({ session: { user, standing, sid, authTime } }: LiveBrowserSession, clock: Pick<Clock, 'now'>) => ({
  ...{ user, standing, browserSid: sid, authTime },
  at: Math.max(Math.floor(clock.now() / 1000), authTime),
});
