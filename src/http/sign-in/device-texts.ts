import type { DeviceCodeProblem } from '../../oauth/authorize/browser-answer.ts';

/** What the pages about devices say in one language. */
export interface DeviceTexts {
  readonly codeTitle: string;
  readonly codeText: string;
  /** The label of the field. */
  readonly code: string;
  readonly problems: Readonly<Record<DeviceCodeProblem, string>>;
  readonly title: string;
  /** Below the code. */
  readonly compare: string;
  /** Before the address that asked. */
  readonly askedFrom: string;
  readonly since: (minutes: number) => string;
  readonly warning: string;
  readonly allowedTitle: string;
  readonly allowedText: string;
  readonly refusedTitle: string;
  readonly refusedText: string;
}

export const ENGLISH_DEVICE: DeviceTexts = {
  codeTitle: 'Sign in on a device',
  codeText: 'Enter the code that the device shows. Never enter a code that somebody has sent or told you.',
  code: 'Code',
  problems: {
    malformed: 'A code has eight letters, such as WDJB-MJHT.',
    unknown: 'No device is asking with this code. Compare it with the code on the device.',
    expired: 'The code has expired. Begin again on the device.',
    throttled: 'There were too many wrong codes.',
    busy: 'Too many people are allowing devices at the moment.',
  },
  title: 'Allow this device?',
  compare: 'The device must show this code.',
  askedFrom: 'Asked from the address',
  since: (minutes) => {
    if (minutes === 0) return 'less than a minute ago.';
    return minutes === 1 ? 'a minute ago.' : `${minutes} minutes ago.`;
  },
  warning:
    'Only go on if you started this yourself on the device at this address. Anyone who holds the device can then act as you.',
  allowedTitle: 'The device may sign in',
  allowedText: 'Go back to the device. You can close this page.',
  refusedTitle: 'You have refused the device',
  refusedText: 'It gets no access. You can close this page.',
};

export const CHINESE_DEVICE: DeviceTexts = {
  codeTitle: '在设备上登录',
  codeText: '请输入设备上显示的代码。切勿输入他人发送或告知您的代码。',
  code: '代码',
  problems: {
    malformed: '代码由八个字母组成，例如 WDJB-MJHT。',
    unknown: '没有设备使用此代码。请与设备上显示的代码核对。',
    expired: '代码已过期。请在设备上重新开始。',
    throttled: '输入错误代码的次数过多。',
    busy: '当前授权设备的人数过多。',
  },
  title: '允许此设备吗？',
  compare: '设备上必须显示此代码。',
  askedFrom: '请求来自地址',
  since: (minutes) => (minutes === 0 ? '不到一分钟前。' : `${minutes} 分钟前。`),
  warning: '仅当您本人在该地址的设备上发起此操作时才继续。之后，持有该设备的人可以以您的身份操作。',
  allowedTitle: '设备可以登录',
  allowedText: '请返回设备。您可以关闭此页面。',
  refusedTitle: '您已拒绝该设备',
  refusedText: '该设备不会获得访问权限。您可以关闭此页面。',
};
