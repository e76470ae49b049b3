import { Component, type ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { Title } from '../parts/title.tsx';
import { t } from '../texts/text.ts';
import { address, hrefTo } from './address.ts';
import { PersonMenu } from './person-menu.tsx';
import { SearchBox } from './search-box.tsx';
import { settings } from './settings.ts';
import { isOutdated } from './version.ts';
import { currentView, isNotOffered, navigation } from './views.ts';

/** What is around every view: the head with search and person, and the navigation. `isEmpty`: without the view. */
export function Shell({ isEmpty = false }: { readonly isEmpty?: boolean }) {
  const { entry, view: View, parts } = currentView.value;
  const path = address.value.parts.join('/');
  useEffect(() => {
    document.querySelector('.views [aria-current=page]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [entry]);
  return (
    <>
      <a class="skip" href="#view">
        {t().skip}
      </a>
      <header class="top">
        <a class="product" href="/">
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <rect width="16" height="16" rx="3.5" />
            <path d="M4.5 12.5V8a3.5 3.5 0 0 1 7 0v4.5" fill="none" stroke-width="2" />
          </svg>
          <span>Gatehouse</span>
        </a>
        {settings().features.kinds ? <SearchBox /> : <span />}
        <PersonMenu />
      </header>
      <nav class="views" aria-label={t().navigation}>
        <ul>
          {navigation().map(({ id, path: own }) => (
            <li key={id}>
              <a href={hrefTo(own === '' ? [] : [own])} aria-current={id === entry?.id ? 'page' : undefined}>
                {t().views[id]}
              </a>
              {id === 'resources' && <Kinds chosen={entry?.id === id ? parts[0] : undefined} />}
            </li>
          ))}
        </ul>
      </nav>
      <main id="view" tabIndex={-1}>
        {isOutdated.value && <Outdated />}
        {!isEmpty && <Fence key={path}>{View ? <View key={path} parts={parts} /> : <NoView />}</Fence>}
      </main>
    </>
  );
}

/** The kinds that everybody looks at, a click away from everywhere. */
const KINDS = ['Pods', 'Deployments', 'StatefulSets', 'DaemonSets', 'Jobs', 'Services'];

function Kinds({ chosen }: { readonly chosen: string | undefined }) {
  return (
    <ul class="below">
      {KINDS.map((kind) => (
        <li key={kind}>
          <a
            href={hrefTo(['resources', kind.toLowerCase()])}
            aria-current={chosen === kind.toLowerCase() ? 'true' : undefined}
          >
            {kind}
          </a>
        </li>
      ))}
    </ul>
  );
}

/** After an upgrade the page of an old tab may not understand the server. */
function Outdated() {
  return (
    <div class="notice" role="status">
      <p>
        {t().outdated}{' '}
        <button type="button" onClick={() => location.reload()}>
          {t().reload}
        </button>
      </p>
    </div>
  );
}

function NoView() {
  return (
    <>
      <Title>{t().noView.title}</Title>
      <p>
        {isNotOffered() ? t().noView.notOffered : t().noView.text} <a href="/">{t().views.overview}</a>
      </p>
    </>
  );
}

/** Keeps the page usable when a view breaks. */
class Fence extends Component<{ readonly children: ComponentChildren }, { readonly fault?: string }> {
  override componentDidCatch(error: unknown): void {
    this.setState({ fault: String(error) });
  }

  override render({ children }: { readonly children: ComponentChildren }, { fault }: { readonly fault?: string }) {
    if (fault === undefined) return children;
    return (
      <div class="notice" role="alert">
        <p>
          <strong>{t().broken}</strong> <span class="said">{fault}</span>
        </p>
      </div>
    );
  }
}
