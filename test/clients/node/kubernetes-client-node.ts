import { CoreV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node';
import { saw, takeSteps, told } from './steps.ts';

const config = new KubeConfig();
config.loadFromFile(told.kubeconfig);
const api = config.makeApiClient(CoreV1Api);

async function list() {
  const { items } = await api.listNode();
  const options: { headers?: Record<string, string> } = {};
  await config.applyToHTTPSOptions(options);
  const token = options.headers?.['Authorization']?.replace('Bearer ', '');
  return { nodes: items.map(({ metadata }) => metadata?.name ?? ''), token };
}

async function watch(): Promise<void> {
  const informer = makeInformer(config, '/api/v1/nodes', () => api.listNode());
  informer.on('add', ({ metadata }) => saw('ADDED', metadata?.name));
  informer.on('update', ({ metadata }) => saw('MODIFIED', metadata?.name));
  informer.on('delete', ({ metadata }) => saw('DELETED', metadata?.name));
  // As its own example does.
  informer.on('error', () => setTimeout(() => void informer.start(), 1_000));
  await informer.start();
}

await takeSteps({ 'sign-in': list, list, watch, refresh: list });
