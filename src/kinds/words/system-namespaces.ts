/** The parts of a platform that have a namespace of their own, `<platform>-<part>-system`. */
const PARTS = ['monitoring', 'logging', 'devops', 'controls'];

/** Whether the system itself runs in a namespace of this name. These are the namespaces whose Services KubeSphere 3.4 calls components. */
export const isSystemNamespace = (name: string, platform: string): boolean =>
  name === 'kube-system' ||
  name === 'istio-system' ||
  name === `${platform}-system` ||
  PARTS.some((part) => name === `${platform}-${part}-system`);
