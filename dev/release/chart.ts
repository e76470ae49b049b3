import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CHART_FILE, type Place, type PushedChart } from './place.ts';
import { run, textOf } from './run.ts';

/** Packages the chart, pushes it, and writes its digest into `out`, where the package stays. */
export async function publishChart({ root, out, registry, version, plainHttp }: Place): Promise<PushedChart> {
  await run('helm', ['package', join(root, 'charts/gatehouse'), '--destination', out]);
  const archive = join(out, `gatehouse-${version}.tgz`);
  const how = plainHttp ? ['--plain-http'] : [];
  const said = await textOf('helm', ['push', ...how, archive, `oci://${registry}/charts`]);
  const digest = /^Digest: (sha256:[0-9a-f]{64})$/m.exec(said)?.[1];
  if (!digest) throw new Error(`helm push named no digest: ${said}`);
  const pushed = { chart: `${registry}/charts/gatehouse@${digest}` };
  await writeFile(join(out, CHART_FILE), JSON.stringify(pushed, undefined, 2));
  return pushed;
}
