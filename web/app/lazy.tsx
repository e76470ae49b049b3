import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { Loading } from '../parts/loading.tsx';
import { t } from '../texts/text.ts';

/** Long after the first rows, and before most people go elsewhere. */
const AHEAD_MS = 5_000;

const notLoaded = new Set<() => Promise<void>>();

/** Loads the other views, one after the other, while nothing else is to do: they are then there even if the server is away. */
export function loadViewsAhead(): void {
  setTimeout(async () => {
    for (const load of notLoaded) await load();
  }, AHEAD_MS);
}

/** A view that is not loaded with the page, because it is large and few people need it at once. */
export function lazy<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  const loaded = signal<{ readonly View?: ComponentType<Props>; readonly hasFailed?: true }>({});
  const begin = async (): Promise<void> => {
    try {
      loaded.value = { View: await load() };
      notLoaded.delete(begin);
    } catch {
      loaded.value = { hasFailed: true };
    }
  };
  notLoaded.add(begin);
  return function Lazy(props: Props) {
    useEffect(() => {
      if (!loaded.value.View) void begin();
    }, []);
    const { View, hasFailed } = loaded.value;
    if (View) return <View {...props} />;
    return hasFailed ? (
      <NotLoaded />
    ) : (
      <p class="soft">
        <Loading />
      </p>
    );
  };
}

/** After an upgrade the server no longer has the files of the page that an old tab runs. */
function NotLoaded() {
  return (
    <div class="notice" role="alert">
      <p>
        {t().notLoaded}{' '}
        <button type="button" onClick={() => location.reload()}>
          {t().reload}
        </button>
      </p>
    </div>
  );
}
