import type { V1Deployment, V1PodDisruptionBudget, V2HorizontalPodAutoscaler } from '@kubernetes/client-node';
import { describe, expect, test } from 'vitest';
import { render } from './helm.ts';

const HPA = 'HorizontalPodAutoscaler';
const rendered = (autoscaling: object, values: object = {}) =>
  render({ ...values, autoscaling: { enabled: true, ...autoscaling } });
const use = (name: string, averageUtilization: number) => ({
  type: 'ContainerResource',
  containerResource: { name, container: 'gatehouse', target: { type: 'Utilization', averageUtilization } },
});

describe('the autoscaler', () => {
  test('is made on request only, and the Deployment has the number of replicas then', async () => {
    const byDefault = await render({ replicaCount: 2 });
    expect(byDefault.all(HPA)).toEqual([]);
    expect(byDefault.one<V1Deployment>('Deployment').spec?.replicas).toBe(2);
  });

  test('keeps two to five replicas by the CPU of Gatehouse’s container, and the Deployment names no number', async () => {
    const objects = await rendered({});
    expect(objects.one<V2HorizontalPodAutoscaler>(HPA).spec).toEqual({
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'gatehouse' },
      minReplicas: 2,
      maxReplicas: 5,
      metrics: [use('cpu', 80)],
    });
    expect(objects.one<V1Deployment>('Deployment').spec).not.toHaveProperty('replicas');
  });

  test('has the limits, metrics, behaviour and annotations that are set', async () => {
    const pods = { metric: { name: 'calls' }, target: { type: 'AverageValue', averageValue: '500' } };
    const behavior = { scaleDown: { stabilizationWindowSeconds: 600 } };
    const annotations = { 'example.com/owner': 'platform' };
    const { spec, metadata } = (
      await rendered({
        ...{ minReplicas: 1, maxReplicas: 9, targetCPUUtilizationPercentage: 0, targetMemoryUtilizationPercentage: 70 },
        ...{ metrics: [{ type: 'Pods', pods }], behavior, annotations },
      })
    ).one<V2HorizontalPodAutoscaler>(HPA);
    expect(spec).toMatchObject({ minReplicas: 1, maxReplicas: 9, behavior });
    expect(spec?.metrics).toEqual([use('memory', 70), { type: 'Pods', pods }]);
    expect(metadata?.annotations).toEqual(annotations);
  });

  test('decides how many replicas a budget and a shutdown delay are measured by', async () => {
    const budget = (minAvailable: number) => rendered({ minReplicas: 3 }, { podDisruptionBudget: { minAvailable } });
    const { spec } = (await budget(2)).one<V1PodDisruptionBudget>('PodDisruptionBudget');
    expect(spec?.minAvailable).toBe(2);
    await expect(budget(3)).rejects.toThrow('podDisruptionBudget.minAvailable is 3 and autoscaling.minReplicas is 3: ');
    const short = rendered({ minReplicas: 1 }, { config: { server: { shutdownDelay: '4s' } } });
    await expect(short).rejects.toThrow('config.server.shutdownDelay is 4s with 5 replicas: ');
  });

  test.each([
    [
      'with sessions that replicas do not share',
      { sessions: { store: 'memory' } },
      {},
      "autoscaling.enabled is true, but sessions.store is memory: replicas would not see each other's sessions; set sessions.store to kubernetes, or autoscaling.enabled to false.",
    ],
    [
      'beside a number of replicas',
      { replicaCount: 3 },
      {},
      'replicaCount is 3, but autoscaling.enabled is true, and the autoscaler sets the number of replicas; set autoscaling.minReplicas instead, and leave replicaCount out.',
    ],
    [
      'with limits in the wrong order',
      {},
      { minReplicas: 6 },
      'autoscaling.minReplicas is 6, which is above autoscaling.maxReplicas (5).',
    ],
    [
      'without a metric',
      {},
      { targetCPUUtilizationPercentage: 0 },
      'autoscaling.enabled is true, but there is no metric to scale by; set autoscaling.targetCPUUtilizationPercentage, or name autoscaling.metrics.',
    ],
  ])('is refused %s', async (_, values, autoscaling, sentence) => {
    await expect(rendered(autoscaling, values)).rejects.toThrow(`: ${sentence}\n`);
  });
});
