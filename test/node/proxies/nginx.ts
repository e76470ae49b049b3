import type { FrontPlace } from './front.ts';
import { blockOfPage, replacedIn, SERVICE_OF_PAGE } from './page.ts';

/** Where Debian's package `nginx-light` puts it: only root's PATH looks there. */
const NGINX = '/usr/sbin/nginx';

/** The configuration of nginx on the page, for this place. */
export const nginxOfPage = ({ address, service, certFile, keyFile }: FrontPlace): string =>
  replacedIn(blockOfPage('nginx', 'nginx'), {
    'listen 443': `listen ${address}:443`,
    [SERVICE_OF_PAGE]: service,
    '/etc/nginx/gatehouse/tls.crt': certFile,
    '/etc/nginx/gatehouse/tls.key': keyFile,
  });

/** How Debian's nginx is run with what stands between the braces of `http`. */
export const nginxWith = (http: string, { folder }: FrontPlace) => ({
  path: NGINX,
  args: (file: string) => ['-p', folder, '-c', file, '-e', 'stderr'],
  config: `daemon off;
user root;
worker_processes 2;
pid ${folder}/pid;
error_log stderr warn;
events { worker_connections 4096; }
http {
access_log off;
client_body_temp_path ${folder}/bodies;
proxy_temp_path ${folder}/answers;
fastcgi_temp_path ${folder}/unused;
uwsgi_temp_path ${folder}/unused;
scgi_temp_path ${folder}/unused;
${http}
}
`,
});
