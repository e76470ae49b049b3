import type { BrowserAnswer, SignInProblem } from '../../oauth/authorize/browser-answer.ts';
import type { PasswordRule } from '../../users/first-passwords.ts';
import { preferredLanguages } from '../answer/accept.ts';
import { CHINESE_DEVICE, type DeviceTexts, ENGLISH_DEVICE } from './device-texts.ts';

type Fault = Extract<BrowserAnswer, { kind: 'fault' }>['fault'];

/** A time to wait as people say it. */
interface Wait {
  readonly count: number;
  readonly unit: 'second' | 'minute';
}

/** Whole minutes, rounded up, from two minutes on. */
export const toWait = (seconds: number): Wait =>
  seconds < 120 ? { count: seconds, unit: 'second' } : { count: Math.ceil(seconds / 60), unit: 'minute' };

/** What the pages say in one language. */
interface PageTexts {
  readonly title: string;
  /** Before the name of the client. */
  readonly continueTo: string;
  readonly username: string;
  readonly password: string;
  readonly submit: string;
  /** Before the name of the user. */
  readonly signedInAs: string;
  readonly newPasswordTitle: string;
  readonly passwordRules: string;
  readonly newPassword: string;
  readonly repeatedPassword: string;
  readonly setPassword: string;
  readonly differentPasswords: string;
  readonly brokenRules: Readonly<Record<PasswordRule, string>>;
  readonly consentTitle: string;
  /** After the name of the client. */
  readonly wantsAccess: string;
  /** Before the list of scopes. */
  readonly itLearns: string;
  readonly scopes: Readonly<Record<string, string>>;
  /** Before the host of the redirect address. */
  readonly goesOnTo: string;
  readonly otherAccount: string;
  readonly allow: string;
  readonly refuse: string;
  readonly signOutTitle: string;
  readonly everywhere: string;
  readonly signOut: string;
  readonly signedOutTitle: string;
  readonly signedOutText: string;
  readonly problems: Readonly<Record<SignInProblem, string>>;
  /** With the seconds of `Retry-After`, or minutes where there are many. */
  readonly retryAfter: (wait: Wait) => string;
  readonly faultTitle: string;
  readonly faults: Readonly<Record<Fault, string>>;
  readonly again: string;
  readonly returnTitle: string;
  /** Instead of it, when the form tells the client of an error. */
  readonly failedTitle: string;
  readonly returnText: string;
  readonly goOn: string;
  readonly device: DeviceTexts;
}

const ENGLISH: PageTexts = {
  title: 'Sign in',
  continueTo: 'to continue to',
  username: 'User name or e-mail address',
  password: 'Password',
  submit: 'Sign in',
  signedInAs: 'You are signed in as',
  newPasswordTitle: 'Choose your own password',
  passwordRules: 'At least 8 characters, with a lower-case letter, an upper-case letter and a digit.',
  newPassword: 'New password',
  repeatedPassword: 'New password, again',
  setPassword: 'Set password',
  differentPasswords: 'The two passwords are different.',
  brokenRules: {
    empty: 'Enter a password.',
    hash: 'This is a password hash. Enter a password.',
    short: 'The password needs at least 8 characters.',
    long: 'The password is longer than 72 bytes.',
    nul: 'The password has a character that cannot be typed.',
    lower_case: 'The password needs a lower-case letter (a to z).',
    upper_case: 'The password needs an upper-case letter (A to Z).',
    digit: 'The password needs a digit (0 to 9).',
  },
  consentTitle: 'Allow access?',
  wantsAccess: 'wants to use your account.',
  itLearns: 'It learns:',
  scopes: {
    openid: 'who you are',
    profile: 'your name',
    email: 'your e-mail address',
    groups: 'the groups that you are in',
    offline_access: 'all of this while you are away, too',
  },
  goesOnTo: 'You go on to',
  otherAccount: 'Use another account',
  allow: 'Allow',
  refuse: 'Refuse',
  signOutTitle: 'Do you want to sign out?',
  everywhere: 'On all my devices',
  signOut: 'Sign out',
  signedOutTitle: 'You are signed out',
  signedOutText: 'You can close this page.',
  problems: {
    incomplete: 'Enter a name and a password.',
    incorrect: 'The name or the password is not correct.',
    throttled: 'There were too many failed sign-ins.',
    busy: 'Too many people are signing in at the moment.',
  },
  retryAfter: ({ count, unit }) => `Try again in ${count === 1 ? `a ${unit}` : `${count} ${unit}s`}.`,
  faultTitle: 'You cannot continue here',
  faults: {
    malformed: 'The address of this page is damaged. Go back to the application and begin again.',
    unknown_client: 'The application that sent you here is not registered for signing in with a browser.',
    unknown_redirect: 'The application wants you to be sent to an address that is not registered for it.',
    ambiguous: 'The application or its address is named more than once.',
    expired: 'This page has expired. Go back to the application and begin again.',
    lost_cookie: 'Your browser did not send the cookie of this page. Begin again, and allow cookies for this site.',
    device_over: 'This request has ended, or was answered before. Begin again on the device.',
  },
  again: 'Begin again',
  returnTitle: 'You are signed in',
  failedTitle: 'You are not signed in',
  returnText: 'Go on to the application.',
  goOn: 'Continue',
  device: ENGLISH_DEVICE,
};

const CHINESE: PageTexts = {
  title: '登录',
  continueTo: '以继续访问',
  username: '用户名或邮箱',
  password: '密码',
  submit: '登录',
  signedInAs: '当前登录用户：',
  newPasswordTitle: '设置您自己的密码',
  passwordRules: '至少 8 个字符，包含小写字母、大写字母和数字。',
  newPassword: '新密码',
  repeatedPassword: '再次输入新密码',
  setPassword: '设置密码',
  differentPasswords: '两次输入的密码不一致。',
  brokenRules: {
    empty: '请输入密码。',
    hash: '这是密码的哈希值。请输入密码。',
    short: '密码至少需要 8 个字符。',
    long: '密码超过 72 字节。',
    nul: '密码包含无法输入的字符。',
    lower_case: '密码需要小写字母（a 到 z）。',
    upper_case: '密码需要大写字母（A 到 Z）。',
    digit: '密码需要数字（0 到 9）。',
  },
  consentTitle: '允许访问吗？',
  wantsAccess: '请求使用您的账户。',
  itLearns: '它将获知：',
  scopes: {
    openid: '您的身份',
    profile: '您的姓名',
    email: '您的邮箱地址',
    groups: '您所属的用户组',
    offline_access: '在您离开时也可获知以上信息',
  },
  goesOnTo: '您将前往',
  otherAccount: '使用其他账户',
  allow: '允许',
  refuse: '拒绝',
  signOutTitle: '要退出登录吗？',
  everywhere: '在我的所有设备上退出',
  signOut: '退出登录',
  signedOutTitle: '您已退出登录',
  signedOutText: '您可以关闭此页面。',
  problems: {
    incomplete: '请输入用户名和密码。',
    incorrect: '用户名或密码不正确。',
    throttled: '登录失败次数过多。',
    busy: '当前登录人数过多。',
  },
  retryAfter: ({ count, unit }) => `请在 ${count} ${unit === 'second' ? '秒' : '分钟'}后重试。`,
  faultTitle: '无法在此继续',
  faults: {
    malformed: '此页面的地址已损坏。请返回应用程序重新开始。',
    unknown_client: '将您引导至此的应用程序未注册浏览器登录。',
    unknown_redirect: '应用程序要求跳转到未为其注册的地址。',
    ambiguous: '应用程序或其地址被重复指定。',
    expired: '此页面已过期。请返回应用程序重新开始。',
    lost_cookie: '您的浏览器没有发送此页面的 Cookie。请允许本站使用 Cookie 并重新开始。',
    device_over: '该请求已结束或已被处理。请在设备上重新开始。',
  },
  again: '重新开始',
  returnTitle: '您已登录',
  failedTitle: '您未登录',
  returnText: '继续前往应用程序。',
  goOn: '继续',
  device: CHINESE_DEVICE,
};

export interface Language {
  /** The value of the attribute `lang`. */
  readonly tag: string;
  readonly texts: PageTexts;
}

const LANGUAGES: readonly Language[] = [
  { tag: 'en', texts: ENGLISH },
  { tag: 'zh-CN', texts: CHINESE },
];

/** The first language that is wanted and there is: by the client's `ui_locales`, then by the browser's `Accept-Language`. */
export function chooseLanguage(locales: readonly string[], acceptLanguage: string | undefined): Language {
  const wanted = [...locales, ...preferredLanguages(acceptLanguage)].map((tag) => tag.toLowerCase().split('-')[0]);
  const found = wanted.map((primary) => LANGUAGES.find(({ tag }) => tag.split('-')[0] === primary));
  return found.find((language) => language !== undefined) ?? (LANGUAGES[0] as Language);
}
