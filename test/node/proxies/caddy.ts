import { clusterTool } from '../../support/cluster-tools.ts';
import type { FrontPlace } from './front.ts';
import { blockOfPage, HOST, replacedIn, SERVICE_OF_PAGE } from './page.ts';

/** Nothing but the one site: no port for redirects, no HTTP/3, and no port for the administrator. */
const globalOptions = ({ folder, address }: FrontPlace): string => `{
	admin off
	auto_https off
	default_bind ${address}
	storage file_system ${folder}
	servers {
		protocols h1 h2
	}
}
`;

/** How Caddy is run with its configuration on the page, for this place. */
export async function caddyOfPage(place: FrontPlace) {
  const site = replacedIn(blockOfPage('Caddy', 'caddyfile'), {
    // kubectl asks for the address: no name leads here. For an address Caddy would make a certificate, whose authority it installs.
    [`${HOST} {`]: ':443 {',
    [SERVICE_OF_PAGE]: place.service,
    '/etc/caddy/gatehouse/tls.crt': place.certFile,
    '/etc/caddy/gatehouse/tls.key': place.keyFile,
  });
  return {
    path: await clusterTool('caddy'),
    args: (file: string) => ['run', '--adapter', 'caddyfile', '--config', file],
    config: globalOptions(place) + site,
  };
}
