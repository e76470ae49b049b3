import type { PrintedSetting } from './print-config.ts';

/** The Secret that is made of the files with secrets, and where the pod has it. */
const SECRET = 'gatehouse-imported';
export const MOUNTED_AT = '/var/run/secrets/gatehouse/imported';

/** The settings that are values of the chart themselves, by the names of these values. All others are below `config`. */
const VALUES: ReadonlyMap<string, string> = new Map([
  ['platform', 'platform'],
  ['accounts.enabled', 'accounts.enabled'],
  ['logging.host', 'logging.host'],
  ['logging.username', 'logging.username'],
  ['monitoring.prometheus', 'monitoring.prometheus'],
  ['authentication.oauthOptions.issuer', 'issuer'],
]);

/** The settings as values of the Helm chart. The files that they name are keys of one Secret. */
export function toChartValues(settings: readonly PrintedSetting[]): readonly PrintedSetting[] {
  const values = settings.map((setting): PrintedSetting => {
    const { name, comment } = setting;
    if (name === 'logging.passwordFile')
      return { name: 'logging.existingSecret', value: SECRET, comment: `${comment}; its key is "password"` };
    return { ...setting, name: VALUES.get(name) ?? `config.${name}` };
  });
  return hasFiles(settings) ? [...values, ...VOLUME] : values;
}

/** Whether a secret of a client, or of a store other than that of logs, is in a file, for which the chart has no value. */
const hasFiles = (settings: readonly PrintedSetting[]): boolean =>
  settings.some(
    ({ name, value }) => name !== 'logging.passwordFile' && JSON.stringify(value).includes(`"${MOUNTED_AT}/`),
  );

const VOLUME: readonly PrintedSetting[] = [
  {
    name: 'extraVolumes',
    value: [{ name: 'imported', secret: { secretName: SECRET } }],
    comment: 'the secrets of clients and stores',
  },
  {
    name: 'extraVolumeMounts',
    value: [{ name: 'imported', mountPath: MOUNTED_AT, readOnly: true }],
    comment: 'where config names them',
  },
];
