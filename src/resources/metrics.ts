import { Gauge, type Registry } from 'prom-client';

/** Returns a function that exposes the bytes of a resource. They are read at each scrape. */
export function createCacheBytes(registry: Registry): (resource: string, bytes: () => number) => void {
  const all = new Map<string, () => number>();
  new Gauge({
    name: 'gatehouse_cache_bytes',
    help: 'Bytes of encoded and compressed objects in memory',
    labelNames: ['resource'],
    registers: [registry],
    collect() {
      for (const [resource, bytes] of all) this.set({ resource }, bytes());
    },
  });
  return (resource, bytes) => void all.set(resource, bytes);
}
