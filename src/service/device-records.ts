import type { Cluster } from '../kubernetes/cluster.ts';
import { createDeviceRecords, type DeviceRecords } from '../oauth/device/device-records.ts';
import { hasDeviceGrant } from '../oauth/device/device-request.ts';
import { createMemoryRecords } from '../oauth/device/memory-records.ts';
import type { SigningKeys } from '../oauth/keys/signing-keys.ts';
import type { OAuthOptions } from '../oauth/options.ts';
import { NO_UPKEEP, type Shared, type Upkeep } from './family.ts';
import { mirrorChecks } from './readiness.ts';
import { type SessionOptions, sessionStoreKind } from './session-stores.ts';

interface DeviceStoreParts extends Shared {
  readonly cluster: Pick<Cluster, 'inCluster' | 'mirrorSecrets'>;
  readonly keys: Pick<SigningKeys, 'digestKey'>;
}

/** The name of the records in metrics and readiness checks. */
const NAME = 'device-codes';

/** Where the decisions about devices are: where the sessions are. Without a client that has the device grant, nothing runs. */
export function createDeviceRecordStore(
  { oauth, sessions }: { readonly oauth: Pick<OAuthOptions, 'clients'>; readonly sessions: SessionOptions },
  { cluster, ...parts }: DeviceStoreParts,
): { readonly deviceRecords: DeviceRecords; readonly upkeep: Upkeep } {
  const { platform, maxStalenessMs } = sessions;
  const namePrefix = `${platform}-${NAME}-`;
  const isWanted = hasDeviceGrant(oauth);
  if (!isWanted || sessionStoreKind(sessions.store, cluster) === 'memory') {
    const deviceRecords = createDeviceRecords(namePrefix, { ...parts, records: createMemoryRecords() });
    return { deviceRecords, upkeep: isWanted ? { ...NO_UPKEEP, parts: [sweeping(deviceRecords)] } : NO_UPKEEP };
  }
  const labels = { 'app.kubernetes.io/part-of': platform, 'app.kubernetes.io/component': NAME };
  const { records, reflector } = cluster.mirrorSecrets(NAME, labels);
  const deviceRecords = createDeviceRecords(namePrefix, { ...parts, records });
  return {
    deviceRecords,
    upkeep: {
      ...NO_UPKEEP,
      parts: [{ name: `reflector of ${NAME}`, run: (signal) => reflector.run(signal) }, sweeping(deviceRecords)],
      checks: mirrorChecks(NAME, reflector, { maxStalenessMs }),
      reflectors: { [NAME]: reflector },
    },
  };
}

const sweeping = ({ run }: DeviceRecords): Upkeep['parts'][number] => ({ name: 'device code records', run });
