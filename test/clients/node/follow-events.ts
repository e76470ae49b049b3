import { saw } from './steps.ts';

/** What an EventSource and its look-alikes have. */
interface Source {
  addEventListener(type: string, listener: (event: { readonly data?: string }) => void): void;
}

/** Prints the events of the watch that a client of server-sent events gets. */
export function follow(source: Source): void {
  source.addEventListener('reset', () => saw('RESET'));
  for (const type of ['ADDED', 'MODIFIED', 'DELETED'])
    source.addEventListener(type, ({ data = '{}' }) => {
      const { object } = JSON.parse(data) as { object: { metadata: { name: string } } };
      saw(type, object.metadata.name);
    });
}
