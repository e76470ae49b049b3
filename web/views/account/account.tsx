import type { KubernetesObject } from '../../api/objects.ts';
import { textAt } from '../../api/objects.ts';
import { Preferences } from '../../app/preferences.tsx';
import { person } from '../../app/session.ts';
import { accountsRoot, settings } from '../../app/settings.ts';
import { usePolled } from '../../app/use-live.ts';
import { Facts } from '../../parts/facts.tsx';
import { Title } from '../../parts/title.tsx';
import { t } from '../../texts/text.ts';
import { KubeconfigPart } from './kubeconfig-part.tsx';
import { PasswordPart } from './password-part.tsx';
import { SessionPart } from './session-part.tsx';
import { SignIns } from './sign-ins.tsx';

/** The reader's own account: who they are, their session and sign-ins, the password, a kubeconfig, and how the page looks here. */
export function Account() {
  const { accounts, gateway } = settings().features;
  const user = person.value?.user ?? '';
  return (
    <>
      <Title>{t().views.account}</Title>
      <div class="cards">
        <section class="card" aria-labelledby="who">
          <h2 id="who">{t().accountPage.who}</h2>
          {accounts ? <OwnUser name={user} /> : <WhoIAm />}
        </section>
        <SessionPart />
        <section class="card preferences" aria-labelledby="preferences">
          <h2 id="preferences">{t().accountPage.preferences}</h2>
          <Preferences />
        </section>
        {accounts && <PasswordPart user={user} />}
        {gateway && hasOwnClient() && <KubeconfigPart user={user} />}
      </div>
      {accounts && <SignIns user={user} />}
    </>
  );
}

/** Whether the program signs in without further settings: with this platform the server has no client of its own (docs/login.md). */
const hasOwnClient = (): boolean => settings().platform !== 'kubesphere';

/** The e-mail address changes seldom. */
const EVERY_MS = 60_000;

/** The reader with what their user object says. Everybody who may sign in may read it. */
function OwnUser({ name }: { readonly name: string }) {
  const polled = usePolled<KubernetesObject>(`${accountsRoot()}/users/${encodeURIComponent(name)}`, EVERY_MS);
  const own = polled.value.value;
  const role = own?.metadata.annotations?.[`iam.${settings().platform}.io/globalrole`] ?? '';
  return <WhoIAm email={textAt(own?.spec, 'email')} role={role} />;
}

function WhoIAm({ email = '', role = '' }: { readonly email?: string; readonly role?: string }) {
  const texts = t().accountPage;
  const { user = '', groups = [] } = person.value ?? {};
  return (
    <Facts
      facts={[
        [texts.user, <bdi key="user">{user}</bdi>],
        [texts.email, email !== '' && <bdi key="email">{email}</bdi>],
        [texts.role, role !== '' && <bdi key="role">{role}</bdi>],
        [texts.groups, <bdi key="groups">{groups.join(', ') || t().overview.noGroups}</bdi>],
      ]}
    />
  );
}
