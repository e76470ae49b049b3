import type { Json } from './steps.ts';

interface Defaults {
  /** Members that a real server fills in, and the simulated one does not; `*` is every element of a list. */
  readonly paths: readonly string[];
  readonly why: string;
}

/** The members that are left out on both sides, by kind. Gatehouse reads none of them. */
const DEFAULTS: Readonly<Record<string, Defaults>> = {
  Pod: {
    paths: [
      ...['restartPolicy', 'terminationGracePeriodSeconds', 'dnsPolicy', 'securityContext', 'schedulerName'],
      ...['tolerations', 'priority', 'enableServiceLinks', 'preemptionPolicy'],
      ...['terminationMessagePath', 'terminationMessagePolicy', 'imagePullPolicy'].map(
        (name) => `containers.*.${name}`,
      ),
    ]
      .map((path) => `spec.${path}`)
      .concat('metadata.generation', 'status.qosClass'),
    why: 'defaults and admission plug-ins complete the spec of a pod; a population has it complete already',
  },
  Node: {
    paths: ['status.daemonEndpoints', 'status.nodeInfo'],
    why: 'a structure without omitempty is written empty',
  },
};

/** The object without the members that only a real server fills in. */
export function withoutDefaults(kind: string, object: Json): Json {
  const copy = structuredClone(object);
  for (const path of DEFAULTS[kind]?.paths ?? []) remove(copy, path.split('.'));
  if (kind === 'Node') removeTaintsOfConditions(copy);
  return copy;
}

/** Removes the taints of TaintNodesByCondition, which a kubelet would remove. */
function removeTaintsOfConditions({ spec }: Json): void {
  if (!Array.isArray(spec?.taints)) return;
  spec.taints = spec.taints.filter(({ key }: Json) => !`${key}`.startsWith('node.kubernetes.io/'));
  if (spec.taints.length === 0) delete spec.taints;
}

function remove(value: Json, [step = '', ...rest]: readonly string[]): void {
  if (typeof value !== 'object' || value === null) return;
  if (step === '*') for (const one of value) remove(one, rest);
  else if (rest.length > 0) remove(value[step], rest);
  else delete value[step];
}
