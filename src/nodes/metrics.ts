import { Gauge, type Registry } from 'prom-client';

/** `bytes` is called at each scrape. */
export function registerCacheBytes(registry: Registry, bytes: () => number): void {
  new Gauge({
    name: 'gatehouse_cache_bytes',
    help: 'Bytes of encoded and compressed objects in memory',
    labelNames: ['resource'],
    registers: [registry],
    collect() {
      this.set({ resource: 'nodes' }, bytes());
    },
  });
}
