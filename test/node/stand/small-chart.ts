import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BUSYBOX } from '../image/images.ts';
import { shell, WEB } from './workload.ts';

const templates: Readonly<Record<string, object>> = {
  'web.yaml': WEB,
  'settings.yaml': {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: '{{ .Release.Name }}-settings' },
    data: { color: '{{ .Values.color }}', revision: '{{ .Release.Revision }}' },
  },
  'test.yaml': {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: '{{ .Release.Name }}-test',
      annotations: { 'helm.sh/hook': 'test', 'helm.sh/hook-delete-policy': 'before-hook-creation' },
    },
    spec: {
      restartPolicy: 'Never',
      containers: [{ name: 'main', image: BUSYBOX, command: shell('echo the color is {{ .Values.color }}') }],
    },
  },
};

/** Writes a chart with a Deployment, a ConfigMap and a test into this folder. */
export async function writeSmallChart(folder: string): Promise<void> {
  await mkdir(join(folder, 'templates'), { recursive: true });
  const chart = { apiVersion: 'v2', name: 'small', version: '1.0.0', kubeVersion: '>=1.30.0-0 <2.0.0-0' };
  await writeFile(join(folder, 'Chart.yaml'), JSON.stringify(chart));
  await writeFile(join(folder, 'values.yaml'), JSON.stringify({ color: 'red' }));
  for (const [name, object] of Object.entries(templates))
    await writeFile(join(folder, 'templates', name), JSON.stringify(object));
}
