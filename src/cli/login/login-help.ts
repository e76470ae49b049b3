import type { ClientAction } from './login-arguments.ts';

const SESSION = `  --server URL      the address of Gatehouse, for example https://gatehouse.example.com
  --username USER   name or e-mail; default: the user of the saved session, else you are asked
  --client-id ID    the OAuth client; default: gatehouse
  --client-secret-file FILE
                    a file with the client's secret; default: the client id is sent as the secret, which the built-in
                    client accepts
  --certificate-authority FILE
                    CA certificates (PEM) that the server's certificate is verified with; default: those of the system
  --certificate-authority-data BASE64
                    the same certificates in base64, as in a kubeconfig
  --session-file FILE
                    where the session is kept; default: a file for each server, user and client in
                    $XDG_STATE_HOME/gatehouse, else ~/.local/state/gatehouse`;

const WAY = `  --browser         sign in with the browser of this machine, which comes back to a port on 127.0.0.1; the default on
                    macOS and in a graphical session on Linux, if the server offers it
  --no-browser      ask for the password instead; the default elsewhere, and with --password-file
  --device          print an address and a code, for the browser of another machine`;

const PASSWORD = `  --password-file FILE
                    a file with the password, one line; default: you are asked, and what you type is not shown`;

const LOGIN = `Usage: gatehouse login --server URL [options]

Signs in, keeps the session in a file that only you can read, and renews it while it is used. For kubectl and every
other program with a kubeconfig it is a credential plug-in: "gatehouse kubeconfig" prints a kubeconfig that runs it.

Options:
${SESSION}
${PASSWORD};
                    - is standard input
${WAY}
  --print WHAT      credential: an ExecCredential of client.authentication.k8s.io, and nothing else, on standard output;
                    token: the access token alone; none: who is signed in, on standard error.
                    Default: credential when KUBERNETES_EXEC_INFO is set, as kubectl does, else none

With --print none, the server is asked every time whether the session is still valid; otherwise at most once a minute.

Environment:
  DISPLAY, WAYLAND_DISPLAY
                        a graphical session on Linux, whose browser is opened by xdg-open
  KUBERNETES_EXEC_INFO  set by kubectl and other clients: the version of the ExecCredential that they expect, and
                        whether you may be asked for a password
  HTTPS_PROXY, HTTP_PROXY, NO_PROXY

Exit codes: 0 signed in, 1 not signed in, 2 wrong arguments
`;

const LOGOUT = `Usage: gatehouse logout --server URL [options]

Ends the session at the server and removes its file. When the server cannot be reached, the file stays.

Options:
${SESSION}
  --all             end every session of the user, on other machines too

Exit codes: 0 no session is left, 1 it could not be ended, 2 wrong arguments
`;

const KUBECONFIG = `Usage: gatehouse kubeconfig --server URL [options]

Prints a kubeconfig for kubectl, helm and every other client of Kubernetes. It points to Gatehouse and signs in with
"gatehouse login"; there is no secret in it.

Options:
${SESSION}
${PASSWORD}
${WAY}
  --namespace NAME  the namespace of the context
  --name NAME       the name of cluster and context; default: the host of the server
  --command PROGRAM what clients run; default: gatehouse, which they look up in PATH

Exit codes: 0 success, 1 a file cannot be read, 2 wrong arguments
`;

/** The text that `--help` prints after the name of a command. */
export const CLIENT_HELP: Readonly<Record<ClientAction, string>> = {
  login: LOGIN,
  logout: LOGOUT,
  kubeconfig: KUBECONFIG,
};

/** The text that `--help` prints in the program that has only these commands. */
export const CLIENTS_HELP = `Usage: gatehouse login|logout|kubeconfig --server URL [options]

Signs in at a Gatehouse that is running elsewhere, by hand or for kubectl.

Options:
  -v, --version  print the version and exit
  -h, --help     print this text and exit

Commands:
  login          sign in, by hand or for kubectl, which runs it (credential plug-in)
  logout         end that session
  kubeconfig     print a kubeconfig that points to the server and signs in with login
                 (gatehouse login --help, and so on, prints their options)

The server and the commands for its operators are in the container image and in a checkout of the repository.

Exit codes: 0 success, 1 failed while running, 2 wrong arguments
`;
