import { parseQuantity } from '../api/quantity.ts';
import { t } from '../texts/text.ts';
import { AmountBar, type Measured } from './usage.tsx';

/** Kubernetes quantities. `requests` is absent if the server does not watch pods. */
interface Amounts {
  readonly allocatable: string;
  readonly requests?: string;
}

/** How full the cluster is (docs/contract/nodes.md, section 12). */
export interface NodeSummary extends Readonly<Record<Measured, Amounts>> {
  readonly nodes: Readonly<Record<'total' | 'running' | 'warning' | 'unschedulable', number>>;
}

const MEASURED: readonly Measured[] = ['cpu', 'memory'];

/** What the pods of all nodes request, of what the nodes can allocate. Nothing, if the server does not know it. */
export function SummaryBars({ summary }: { readonly summary: NodeSummary }) {
  const bars = MEASURED.map((what) => {
    const { requests = '', allocatable } = summary[what];
    return { what, requested: parseQuantity(requests), allocatable: parseQuantity(allocatable) ?? 0 };
  });
  if (bars.some(({ requested }) => requested === undefined)) return null;
  return (
    <dl class="facts bars">
      {bars.map(({ what, requested = 0, allocatable }) => (
        <div key={what}>
          <dt>{t().usage.requested[what]}</dt>
          <dd>
            <AmountBar what={what} amount={requested} of={allocatable} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
