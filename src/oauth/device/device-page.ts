import type { Clock } from '../../runtime/clock.ts';
import type { DeviceCodePage, DevicePage } from '../authorize/browser-answer.ts';
import { PAGE_SECONDS } from '../authorize/pending-request.ts';
import type { SealedValues } from '../authorize/sealed-values.ts';
import { withParameters } from '../endpoints/with-parameters.ts';
import type { ShownRequest } from './device-request.ts';
import { shownUserCode } from './user-code.ts';

/** Where people allow devices. */
export const DEVICE_PATH = '/oauth/device';

/** What a form of the pages about devices carries: the person and the browser that got the page, and the request that it asks about. */
export interface PendingDevice {
  /** `digestOf` the value of the browser's cookie. */
  readonly browser: string;
  readonly sid: string;
  readonly user: string;
  readonly locales: readonly string[];
  /** Absent on the page for the code. */
  readonly shown?: ShownRequest;
}

export type PendingDevices = SealedValues<PendingDevice>;

/** The path of the page, with these parameters. */
export const devicePath = (
  locales: readonly string[],
  parameters: {
    readonly userCode?: string | undefined;
    readonly request?: string | undefined;
    readonly prompt?: string;
  },
): string =>
  withParameters(DEVICE_PATH, {
    user_code: parameters.userCode && shownUserCode(parameters.userCode),
    request: parameters.request,
    prompt: parameters.prompt,
    ui_locales: locales.length > 0 ? locales.join(' ') : undefined,
  }).replace(/\?$/, '');

type Shown = Pick<DeviceCodePage, 'userCode' | 'problem' | 'retryAfterSeconds'>;

/** The page for the code. `userCode` is what the field begins with. */
export const codePage = (
  { shown: _, ...pending }: PendingDevice,
  shown: Shown,
  { pages }: { readonly pages: Pick<PendingDevices, 'seal'> },
): DeviceCodePage => ({
  ...{ kind: 'device-code', locales: pending.locales, signedIn: pending.user, ...shown },
  request: pages.seal(pending, PAGE_SECONDS),
  otherAccount: devicePath(pending.locales, { prompt: 'select_account' }),
});

/** The page that asks about a device. `request`: the sealed request, if it came with the address. */
export const askPage = (
  pending: PendingDevice & { readonly shown: ShownRequest },
  request: string | undefined,
  { pages, clock }: { readonly pages: Pick<PendingDevices, 'seal'>; readonly clock: Pick<Clock, 'now'> },
): DevicePage => {
  const { clientId, scope, address, since, userCode } = pending.shown;
  return {
    ...{ kind: 'device', locales: pending.locales, signedIn: pending.user, clientId, address },
    ...{ scopes: scope?.split(' ') ?? [], userCode: shownUserCode(userCode) },
    minutes: Math.max(0, Math.floor((clock.now() / 1000 - since) / 60)),
    request: pages.seal(pending, PAGE_SECONDS),
    otherAccount: devicePath(pending.locales, { userCode, request, prompt: 'select_account' }),
  };
};
