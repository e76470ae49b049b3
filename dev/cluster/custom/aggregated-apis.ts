import type { Clock } from '../../../src/runtime/clock.ts';
import type { ServedKinds } from '../api/served-kinds.ts';
import type { Change } from '../entry.ts';
import { defineKind, type ResourceKind } from '../kinds.ts';
import type { KubeObject, NewObject } from '../kube-object.ts';
import { timestamp } from '../timestamp.ts';
import type { ExtendedStore } from './definitions.ts';

const API_SERVICES = 'apiservices';

/** A resource of an aggregated API. */
interface AggregatedResource {
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** One group version that another server would serve. */
export interface AggregatedApi {
  readonly group: string;
  readonly version: string;
  readonly resources: readonly AggregatedResource[];
}

interface AggregatedParts {
  readonly store: ExtendedStore & { create(name: string, object: NewObject): KubeObject };
  readonly kinds: ServedKinds;
  readonly clock: Clock;
}

const nameOf = ({ group, version }: Pick<AggregatedApi, 'group' | 'version'>): string => `${version}.${group}`;

/**
 * The API versions that an APIService hands to another server. That of `add` is in this process: its objects are in the store, named
 * `<plural>.<group>`. Every other one is away, because there is nothing behind its service.
 */
export class AggregatedApis {
  readonly watched = API_SERVICES;
  readonly #parts: AggregatedParts;
  readonly #backends = new Map<string, readonly ResourceKind[]>();

  constructor(parts: AggregatedParts) {
    this.#parts = parts;
  }

  /** Puts an API in place: its APIService, and a server behind it. Deleting the APIService removes it. */
  add(api: AggregatedApi): void {
    const { group, version, resources } = api;
    const kinds = resources.map(({ plural, kind, namespaced }) =>
      defineKind(plural, kind, { group, version, name: `${plural}.${group}`, cluster: !namespaced }),
    );
    this.#backends.set(nameOf(api), kinds);
    const service = { namespace: 'kube-system', name: 'aggregated', port: 443 };
    const priorities = { groupPriorityMinimum: 100, versionPriority: 100 };
    this.#parts.store.create(API_SERVICES, {
      metadata: { name: nameOf(api) },
      spec: { service, group, version, insecureSkipTLSVerify: true, ...priorities },
    });
  }

  /** Lets the server of an API go away, which ends its watches, or come back. */
  setAway(api: Pick<AggregatedApi, 'group' | 'version'>, isAway: boolean): void {
    const { store } = this.#parts;
    const object = store.list(API_SERVICES).find(({ metadata }) => metadata.name === nameOf(api));
    const kinds = this.#backends.get(nameOf(api));
    if (!object || !kinds) throw new TypeError(`the simulated cluster has no aggregated API ${nameOf(api)}`);
    if (isAway)
      for (const { storedAs } of kinds.filter((kind) => this.#parts.kinds.stored.includes(kind)))
        store.collection(storedAs).endWatches();
    store.update(API_SERVICES, this.#withAvailability(object, !isAway));
  }

  /** For the store: an APIService was written. */
  committed({ type, entry: { object } }: Change): void {
    const isNew = type !== 'DELETED' && conditionOf(object) === undefined;
    if (isNew) this.#parts.store.update(API_SERVICES, this.#withAvailability(object, this.#isThere(object)));
    else this.refresh();
  }

  /** Serves the APIs of the APIServices that are stored now. */
  refresh(): void {
    const { store, kinds } = this.#parts;
    const remote = store.list(API_SERVICES).filter(({ spec }) => spec?.['service']);
    const [there, away] = [true, false].map((isThere) =>
      remote.filter((object) => (conditionOf(object)?.status === 'True') === isThere),
    ) as [KubeObject[], KubeObject[]];
    kinds.replace('aggregated', {
      kinds: there.flatMap(({ metadata }) => this.#backends.get(metadata.name) ?? []),
      away: away.map(({ spec }) => ({ group: String(spec?.['group']), version: String(spec?.['version']) })),
    });
  }

  #isThere({ metadata, spec }: KubeObject): boolean {
    return !spec?.['service'] || this.#backends.has(metadata.name);
  }

  #withAvailability(object: KubeObject, isAvailable: boolean): NewObject {
    const { namespace, name } = (object.spec?.['service'] ?? {}) as Readonly<Record<string, string>>;
    const why = isAvailable
      ? { reason: 'Passed', message: 'all checks passed' }
      : { reason: 'ServiceNotFound', message: `service/${name} in "${namespace}" is not present` };
    const lastTransitionTime = timestamp(this.#parts.clock.now());
    const status = isAvailable ? 'True' : 'False';
    return { ...object, status: { conditions: [{ type: 'Available', status, lastTransitionTime, ...why }] } };
  }
}

const conditionOf = ({ status }: KubeObject): { readonly status: string } | undefined =>
  ((status?.['conditions'] ?? []) as readonly { type: string; status: string }[]).find(
    ({ type }) => type === 'Available',
  );
