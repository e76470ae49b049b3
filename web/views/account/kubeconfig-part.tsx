import { useEffect, useMemo } from 'preact/hooks';
import { Copied } from '../../parts/copied.tsx';
import { t } from '../../texts/text.ts';
import { kubeconfigText } from './kubeconfig.ts';

/** A kubeconfig for this server, as a file and as text. */
export function KubeconfigPart({ user }: { readonly user: string }) {
  const texts = t().accountPage;
  const text = kubeconfigText({ server: location.origin, user });
  const file = useMemo(() => URL.createObjectURL(new Blob([text], { type: 'application/yaml' })), [text]);
  useEffect(() => () => URL.revokeObjectURL(file), [file]);
  return (
    <section class="card" aria-labelledby="kubeconfig">
      <h2 id="kubeconfig">{texts.kubeconfig}</h2>
      <p>{texts.kubeconfigMeans}</p>
      {location.protocol === 'http:' && <p class="old">{texts.kubeconfigPlain}</p>}
      <p class="actions">
        <a class="button" href={file} download="gatehouse.kubeconfig">
          {texts.download}
        </a>
      </p>
      <details>
        <summary>{texts.showText}</summary>
        <Copied text={text} />
      </details>
    </section>
  );
}
