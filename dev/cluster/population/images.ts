/** An element of `status.images` of a node. */
export interface NodeImage {
  readonly names: readonly string[];
  readonly sizeBytes: number;
}

const REGISTRY = 'registry.example.test';

const REPOSITORIES = [
  'kubernetes/kube-proxy',
  'kubernetes/pause',
  'network/node-agent',
  'monitoring/node-exporter',
  'logging/log-agent',
  'shop/storefront',
  'shop/catalog',
  'shop/cart',
  'shop/checkout',
  'shop/payments',
  'shop/search',
  'shop/recommendations',
  'monitoring/prometheus',
  'monitoring/grafana',
  'monitoring/alertmanager',
  'data/postgres',
  'data/redis',
  'ci/builder',
];

/** The digest depends on the name only, so equal images are equal everywhere. */
function digestOf(text: string): string {
  let state = 0x811c9dc5;
  const words = Array.from({ length: 8 }, (_, round) => {
    for (const character of `${round}${text}`) state = Math.imul(state ^ character.charCodeAt(0), 0x01000193) >>> 0;
    return state.toString(16).padStart(8, '0');
  });
  return words.join('');
}

function imageAt(index: number): NodeImage {
  const repository = REPOSITORIES[index % REPOSITORIES.length]!;
  const tag = `v1.${Math.floor(index / REPOSITORIES.length)}.${index % 7}`;
  const name = `${REGISTRY}/${repository}`;
  const digest = digestOf(`${repository}:${tag}`);
  return {
    names: [`${name}@sha256:${digest}`, `${name}:${tag}`],
    sizeBytes: 12_000_000 + (parseInt(digest.slice(0, 6), 16) % 400_000_000),
  };
}

/** At least `count` images, and as many as make about `bytes` of JSON. */
export function imagesOf(count: number, bytes: number): readonly NodeImage[] {
  const images: NodeImage[] = [];
  let size = 2;
  for (let index = 0; images.length < count || size < bytes; index++) {
    const image = imageAt(index);
    images.push(image);
    size += JSON.stringify(image).length + 1;
  }
  return images;
}
