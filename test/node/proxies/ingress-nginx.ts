import type { V1Ingress } from '@kubernetes/client-node';
import { parse } from 'yaml';
import type { FrontPlace } from './front.ts';
import { controllerSettings } from './page.ts';

const PREFIX = 'nginx.ingress.kubernetes.io/';

/**
 * The annotations that the page may have, with their defaults: `NewDefault` in internal/ingress/controller/config/config.go of
 * ingress-nginx 1.15.0.
 */
const ANNOTATIONS = {
  'proxy-body-size': '1m',
  'proxy-buffer-size': '4k',
  'proxy-buffering': 'off',
  'proxy-connect-timeout': '5',
  'proxy-read-timeout': '60',
  'proxy-request-buffering': 'on',
  'proxy-send-timeout': '60',
} as const;

/** The settings of the ConfigMap that the page may have, with their defaults from the same place. */
const SETTINGS = {
  'large-client-header-buffers': '4 8k',
  'worker-shutdown-timeout': '240s',
} as const;

type Values<K extends string> = { readonly [key in K]: string };

/** The defaults, with what is given. Throws if something is given that has no default here. */
function completed<K extends string>(defaults: Values<K>, given: Readonly<Record<string, string>>): Values<K> {
  for (const name of Object.keys(given))
    if (!(name in defaults)) throw new Error(`what ingress-nginx makes of ${name} is not known here`);
  return { ...defaults, ...given };
}

function annotationsOf({ metadata }: V1Ingress): Record<string, string> {
  const all = Object.entries(metadata?.annotations ?? {});
  const own = all.filter(([name]) => name.startsWith(PREFIX));
  return Object.fromEntries(own.map(([name, value]) => [name.slice(PREFIX.length), value]));
}

/**
 * What ingress-nginx 1.15.0 would have between the braces of `http` for this Ingress and the ConfigMap of the page: the directives of
 * rootfs/etc/nginx/template/nginx.tmpl that concern requests, in its order. Its choice of a pod is in Lua; here the Service chooses.
 */
export function nginxOfIngress(ingress: V1Ingress, place: FrontPlace): string {
  const annotations = completed(ANNOTATIONS, annotationsOf(ingress));
  const settings = completed(SETTINGS, parse(controllerSettings()).data);
  return `${requestSettings(settings)}\n${MAPS}\n${upstream(place)}\n${server(ingress, annotations, place)}`;
}

const requestSettings = (settings: Values<keyof typeof SETTINGS>): string => `
tcp_nopush on;
tcp_nodelay on;
reset_timedout_connection on;
keepalive_timeout 75s;
keepalive_requests 1000;
client_header_buffer_size 1k;
client_header_timeout 60s;
large_client_header_buffers ${settings['large-client-header-buffers']};
client_body_buffer_size 8k;
client_body_timeout 60s;
http2_max_concurrent_streams 128;
underscores_in_headers off;
ignore_invalid_headers on;
proxy_ssl_session_reuse on;`;

const MAPS = `
map $http_upgrade $connection_upgrade {
  default upgrade;
  '' '';
}
map $http_x_request_id $req_id {
  default $http_x_request_id;
  "" $request_id;
}
map $http_host $best_http_host {
  default $http_host;
  '' $host;
}`;

const upstream = ({ service }: FrontPlace): string => `
upstream upstream_balancer {
  server ${service};
  keepalive 320;
  keepalive_time 1h;
  keepalive_timeout 60s;
  keepalive_requests 10000;
}`;

function server(ingress: V1Ingress, annotations: Values<keyof typeof ANNOTATIONS>, place: FrontPlace): string {
  const [rule] = ingress.spec?.rules ?? [];
  const [path] = rule?.http?.paths ?? [];
  return `
server {
  listen ${place.address}:443 ssl http2;
  server_name ${rule?.host};
  ssl_certificate ${place.certFile};
  ssl_certificate_key ${place.keyFile};
  location ${path?.path} {
    client_max_body_size ${annotations['proxy-body-size']};
    proxy_set_header Host $best_http_host;
    proxy_set_header Upgrade $http_upgrade;
    proxy_set_header Connection $connection_upgrade;
    proxy_set_header X-Request-ID $req_id;
    proxy_set_header X-Real-IP $remote_addr;
    proxy_set_header X-Forwarded-For $remote_addr;
    proxy_set_header X-Forwarded-Host $best_http_host;
    proxy_set_header X-Forwarded-Port $server_port;
    proxy_set_header X-Forwarded-Proto $scheme;
    proxy_set_header X-Forwarded-Scheme $scheme;
    proxy_set_header X-Scheme $scheme;
    proxy_set_header X-Original-Forwarded-For $http_x_forwarded_for;
    proxy_set_header Proxy "";
    proxy_connect_timeout ${annotations['proxy-connect-timeout']}s;
    proxy_send_timeout ${annotations['proxy-send-timeout']}s;
    proxy_read_timeout ${annotations['proxy-read-timeout']}s;
    proxy_buffering ${annotations['proxy-buffering']};
    proxy_buffer_size ${annotations['proxy-buffer-size']};
    proxy_buffers 4 ${annotations['proxy-buffer-size']};
    proxy_max_temp_file_size 1024m;
    proxy_request_buffering ${annotations['proxy-request-buffering']};
    proxy_http_version 1.1;
    proxy_cookie_domain off;
    proxy_cookie_path off;
    proxy_next_upstream error timeout;
    proxy_next_upstream_timeout 0;
    proxy_next_upstream_tries 3;
    proxy_pass http://upstream_balancer;
    proxy_redirect off;
  }
}`;
}
