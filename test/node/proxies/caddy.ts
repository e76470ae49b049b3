import { clusterTool } from '../../support/cluster-tools.ts';
import type { FrontPlace } from './front.ts';
import { blockOfPage, HOST, replacedIn, SERVICE_OF_PAGE } from './page.ts';

/** Nothing but the one site: no port for redirects, no HTTP/3, no port for the administrator, and no file outside of the folder. */
const ownOptions = ({ folder, address }: FrontPlace): string => `admin off
	auto_https off
	persist_config off
	default_bind ${address}
	storage file_system ${folder}
	servers {
		protocols h1 h2`;

/** Where no program is. With a path Caddy would find those that add its own authority to the ones that the machine trusts. */
const NO_PATH = '/nowhere';

/** How Caddy is run with its configuration on the page, for this place. */
export async function caddyOfPage(place: FrontPlace) {
  const config = replacedIn(blockOfPage('Caddy', 'caddyfile'), {
    'servers {': ownOptions(place),
    // kubectl asks for the address: no name leads here. For a site with an address Caddy would make a certificate, `auto_https off` or not.
    [`${HOST} {`]: ':443 {',
    [SERVICE_OF_PAGE]: place.service,
    '/etc/caddy/gatehouse/tls.crt': place.certFile,
    '/etc/caddy/gatehouse/tls.key': place.keyFile,
  });
  const caddy = await clusterTool('caddy');
  return {
    path: '/usr/bin/env',
    args: (file: string) => [`PATH=${NO_PATH}`, caddy, 'run', '--adapter', 'caddyfile', '--config', file],
    config,
  };
}
