import { Gauge, type Registry } from 'prom-client';

/** Exposes how many keys of the cluster are in use. */
export function registerClusterKeys(registry: Registry, count: () => number): void {
  new Gauge({
    name: 'gatehouse_service_account_keys',
    help: 'Published keys of the cluster that service account tokens are checked with; 0: they could not be read so far.',
    registers: [registry],
    collect() {
      this.set(count());
    },
  });
}
