import { hrefTo } from '../app/address.ts';

interface AboutObject {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string | undefined;
}

/** Where events about one object are searched. */
export const searchedEvents = ({ kind, name, namespace }: AboutObject): string =>
  hrefTo(['events'], { range: '24h', namespaces: namespace, kind, names: name });
