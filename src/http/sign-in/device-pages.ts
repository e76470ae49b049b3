import type { DeviceCodePage, DevicePage } from '../../oauth/authorize/browser-answer.ts';
import { DEVICE_PATH } from '../../oauth/device/device-page.ts';
import { html } from './html.ts';
import { type PageContent, scopeList, signedInAs } from './page-content.ts';
import { type Language, toWait } from './texts.ts';

/** The path of the form with the decision. */
export const DEVICE_DECISION_PATH = '/oauth/device-decision';

/** Asks for the code that a device shows (D-03). */
export function deviceCodePage(page: DeviceCodePage, { texts: { device, ...texts } }: Language): PageContent {
  const { problem, retryAfterSeconds } = page;
  const wait = retryAfterSeconds === undefined ? '' : ` ${texts.retryAfter(toWait(retryAfterSeconds))}`;
  const told = problem && html`<p id="problem" role="alert">${device.problems[problem]}${wait}</p>`;
  const described = problem ? html` aria-describedby="problem" aria-invalid="true"` : undefined;
  const title = device.codeTitle;
  const main = html`<h1>${title}</h1>
<p>${device.codeText}</p>
<form method="post" action="${DEVICE_PATH}">
${told}
<input type="hidden" name="request" value="${page.request}">
<label for="user_code">${device.code}</label>
<input id="user_code" name="user_code" class="code" value="${page.userCode}" autocomplete="off" autocapitalize="characters" spellcheck="false" required${described} autofocus>
<button>${texts.goOn}</button>
</form>
${whoseDevices(page, texts)}`;
  const isLimited = retryAfterSeconds !== undefined;
  return {
    ...{ title, main, status: isLimited ? 429 : problem === undefined ? 200 : 400 },
    headers: isLimited ? { 'Retry-After': String(retryAfterSeconds) } : {},
  };
}

/**
 * Asks whether a device may sign in. People are talked into this over the telephone (RFC 8628 5.4), so the page names the device's
 * address, and the button that refuses is no smaller than the other.
 */
export function devicePage(page: DevicePage, { texts: { device, ...texts } }: Language): PageContent {
  const title = device.title;
  const main = html`<h1>${title}</h1>
<div class="code">${page.userCode}</div>
<p>${device.compare}</p>
<p><strong>${page.clientId}</strong> ${texts.wantsAccess}</p>
${scopeList(page.scopes, texts)}
<p>${device.askedFrom} <strong>${page.address}</strong>, ${device.since(page.minutes)}</p>
<p class="warning">${device.warning}</p>
<form method="post" action="${DEVICE_DECISION_PATH}">
<input type="hidden" name="request" value="${page.request}">
<button name="decision" value="allow">${texts.allow}</button>
<button name="decision" value="deny" class="second">${texts.refuse}</button>
</form>
${whoseDevices(page, texts)}`;
  return { title, main };
}

const whoseDevices = (
  { signedIn, otherAccount }: DeviceCodePage | DevicePage,
  texts: Omit<Language['texts'], 'device'>,
) =>
  html`${signedInAs(signedIn, texts)}
<p><a href="${otherAccount}">${texts.otherAccount}</a></p>`;

/** Says that the decision is made. */
export function deviceDonePage(
  { isAllowed, clientId }: { readonly isAllowed: boolean; readonly clientId: string },
  { texts: { device } }: Language,
): PageContent {
  const title = isAllowed ? device.allowedTitle : device.refusedTitle;
  const text = isAllowed ? device.allowedText : device.refusedText;
  return { title, main: html`<h1>${title}</h1>\n<p><strong>${clientId}</strong></p>\n<p role="status">${text}</p>` };
}
