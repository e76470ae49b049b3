import { at, type KubernetesObject, listAt, textAt } from '../api/objects.ts';

/** A column that the definition of a custom resource asks for (`additionalPrinterColumns`), or that kubectl prints of a kind of Kubernetes. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
}

const column = (name: string, jsonPath: string, type = 'string'): PrinterColumn => ({ name, type, jsonPath });

/** What kubectl prints of kinds that have no columns of our own, in its words. No definition names them: they are in the server's code. */
export const BUILT_IN: Readonly<Record<string, readonly PrinterColumn[]>> = {
  cronjobs: [
    column('Schedule', '.spec.schedule'),
    column('Suspend', '.spec.suspend'),
    column('Active', '.status.active[*].name'),
    column('Last schedule', '.status.lastScheduleTime', 'date'),
  ],
  horizontalpodautoscalers: [
    column('Reference', '.spec.scaleTargetRef.name'),
    column('Min pods', '.spec.minReplicas'),
    column('Max pods', '.spec.maxReplicas'),
    column('Replicas', '.status.currentReplicas'),
  ],
  ingresses: [
    column('Class', '.spec.ingressClassName'),
    column('Hosts', '.spec.rules[*].host'),
    column('Address', '.status.loadBalancer.ingress[*].ip'),
  ],
  networkpolicies: [column('Policy types', '.spec.policyTypes[*]')],
  persistentvolumes: [
    column('Status', '.status.phase'),
    column('Capacity', '.spec.capacity.storage'),
    column('Claim', '.spec.claimRef.name'),
    column('Storage class', '.spec.storageClassName'),
  ],
  poddisruptionbudgets: [
    column('Min available', '.spec.minAvailable'),
    column('Max unavailable', '.spec.maxUnavailable'),
    column('Allowed disruptions', '.status.disruptionsAllowed'),
  ],
  storageclasses: [column('Provisioner', '.provisioner'), column('Reclaim policy', '.reclaimPolicy')],
};

/** The columns for kubectl's ordinary output, those with priority 0, of a version of a definition. */
export function printerColumnsOf(definition: KubernetesObject, version: string): readonly PrinterColumn[] {
  const found = listAt(definition.spec, 'versions').find((one) => textAt(one, 'name') === version);
  return listAt(found, 'additionalPrinterColumns')
    .filter((column) => !at(column, 'priority'))
    .map((column) => ({
      name: textAt(column, 'name'),
      type: textAt(column, 'type'),
      jsonPath: textAt(column, 'jsonPath'),
    }))
    .filter(({ jsonPath }) => jsonPath !== '.metadata.creationTimestamp');
}

/** A step of a path: `.name`, `['name']`, `[0]`, `[*]`, or `[?(@.type=="Ready")]`. */
const STEP = /\.([\w-]+)|\[\s*'((?:[^'\\]|\\.)*)'\s*\]|\[(\d+|\*)\]|\[\?\(@\.([\w.-]+)\s*==\s*["']([^"']*)["']\)\]/y;

/**
 * The values at a JSONPath, as the definitions of custom resources use it; `undefined` for a path that has other parts.
 * https://kubernetes.io/docs/reference/kubectl/jsonpath/
 */
function valuesAt(object: unknown, jsonPath: string): readonly unknown[] | undefined {
  let values: readonly unknown[] = [object];
  STEP.lastIndex = 0;
  while (STEP.lastIndex < jsonPath.length) {
    const step = STEP.exec(jsonPath);
    if (!step) return undefined;
    values = values.flatMap((value) => follow(value, step)).filter((value) => value !== undefined);
  }
  return values;
}

function follow(value: unknown, [, member, quoted, place, key, wanted]: RegExpExecArray): readonly unknown[] {
  const name = member ?? quoted?.replaceAll(/\\(.)/g, '$1');
  if (name !== undefined) return [at(value, name)];
  const items = Array.isArray(value) ? value : [];
  if (key !== undefined) return items.filter((item) => String(at(item, ...key.split('.'))) === wanted);
  return place === '*' ? items : [items[Number(place)]];
}

/** More is not seen in a cell. */
const LONGEST_CELL = 1_000;

/** The text of a column. Objects are written as JSON, as kubectl does. */
export const printed = (object: KubernetesObject, { jsonPath }: PrinterColumn): string =>
  (valuesAt(object, jsonPath) ?? [])
    .map((value) => (typeof value === 'object' ? jsonOf(value) : String(value)))
    .join(',');

/** A value that is nested too deeply for a browser to write has no text: a table is not to fail because of one cell. */
function jsonOf(value: object | null): string {
  try {
    return JSON.stringify(value).slice(0, LONGEST_CELL);
  } catch {
    return '';
  }
}
