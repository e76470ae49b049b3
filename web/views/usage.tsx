import { type KubernetesObject, textAt } from '../api/objects.ts';
import { bytesText, coresText, parseQuantity } from '../api/quantity.ts';
import { settings } from '../app/settings.ts';
import { Bar } from '../parts/bar.tsx';
import { t } from '../texts/text.ts';

export type Measured = 'cpu' | 'memory';

/** Processors or bytes as a text. */
const amountText = (what: Measured, amount: number): string => (what === 'cpu' ? coresText(amount) : bytesText(amount));

/** What the pods of a node request, of what the node can allocate (docs/contract/nodes.md, section 6). */
export function Requested({ node, what }: { readonly node: KubernetesObject; readonly what: Measured }) {
  const requested = parseQuantity(textAt(node.metadata.annotations, `node.${settings().platform}.io/${what}-requests`));
  const allocatable = parseQuantity(textAt(node.status, 'allocatable', what));
  if (requested === undefined) return <span class="soft">{t().none}</span>;
  return <AmountBar what={what} amount={requested} of={allocatable ?? 0} />;
}

/** How many pods count for the node, and how many it takes, in the form of a pod's READY: `12/110`. */
export function podsOf(node: KubernetesObject): string {
  const counted = textAt(node.metadata.annotations, `node.${settings().platform}.io/pods`);
  const allowed = textAt(node.status, 'allocatable', 'pods');
  return counted === '' || allowed === '' ? counted : `${counted}/${allowed}`;
}

interface AmountBarProps {
  readonly what: Measured;
  readonly amount: number;
  readonly of: number;
}

export function AmountBar({ what, amount, of }: AmountBarProps) {
  const texts = t().usage;
  const title = texts.of(amountText(what, amount), amountText(what, of));
  return <Bar label={texts.requested[what]} percent={of > 0 ? (amount / of) * 100 : 0} title={title} />;
}
