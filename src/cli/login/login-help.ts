import type { ClientAction } from './login-arguments.ts';

const SESSION = `  --server URL      the address of Gatehouse, as https://gatehouse.example.com
  --username USER   name or e-mail; default: the one who signed in last, else the terminal is asked
  --client-id ID    the application at Gatehouse; default: gatehouse
  --client-secret-file FILE
                    its secret; default: none, or the id where that is the secret
  --certificate-authority FILE
                    certificates (PEM) that the server's is checked with; default: those of the system
  --certificate-authority-data BASE64
                    the same, as a kubeconfig holds it
  --session-file FILE
                    where the session is kept; default: a file for each server, user and client in
                    $XDG_STATE_HOME/gatehouse, else ~/.local/state/gatehouse`;

const PASSWORD = `  --password-file FILE
                    holds the password, one line; default: the terminal is asked, without showing it`;

const LOGIN = `Usage: gatehouse login --server URL [options]

Signs in, keeps the session in a file that only you can read, and renews it while it is used. For kubectl and every
other program with a kubeconfig it is a credential plug-in: "gatehouse kubeconfig" prints a kubeconfig that runs it.

Options:
${SESSION}
${PASSWORD};
                    - is standard input
  --print WHAT      credential: an ExecCredential of client.authentication.k8s.io, and nothing else, on standard output;
                    token: the access token alone; none: who is signed in, on standard error.
                    Default: credential when KUBERNETES_EXEC_INFO is set, as kubectl does, else none

By hand (none) the server is asked whether the session still stands. Otherwise it is asked at most once a minute.

Environment:
  KUBERNETES_EXEC_INFO  what a client wants to know, and whether somebody may be asked for a password
  HTTPS_PROXY, HTTP_PROXY, NO_PROXY

Exit codes: 0 signed in, 1 not signed in, 2 wrong arguments
`;

const LOGOUT = `Usage: gatehouse logout --server URL [options]

Ends the session at the server and removes its file. When the server cannot be reached the file stays.

Options:
${SESSION}
  --all             end every session of the user, on other machines too

Exit codes: 0 no session is left, 1 it could not be ended, 2 wrong arguments
`;

const KUBECONFIG = `Usage: gatehouse kubeconfig --server URL [options]

Prints a kubeconfig for kubectl, helm and every other client of Kubernetes. It leads to Gatehouse and signs in with
"gatehouse login"; there is no secret in it.

Options:
${SESSION}
${PASSWORD}
  --namespace NAME  the namespace of the context
  --name NAME       the name of cluster and context; default: the host of the server
  --command PROGRAM what clients run; default: gatehouse, which they look up in PATH

Exit codes: 0 success, 1 a file cannot be read, 2 wrong arguments
`;

/** What `--help` prints after the name of a command. */
export const CLIENT_HELP: Readonly<Record<ClientAction, string>> = {
  login: LOGIN,
  logout: LOGOUT,
  kubeconfig: KUBECONFIG,
};

/** What `--help` prints in the program that has these commands alone. */
export const CLIENTS_HELP = `Usage: gatehouse login|logout|kubeconfig --server URL [options]

Signs in at a Gatehouse that is running elsewhere, by hand or for kubectl.

Options:
  -v, --version  print the version and end
  -h, --help     print this text and end

Commands:
  login          sign in, by hand or for kubectl, which runs it (credential plug-in)
  logout         end that session
  kubeconfig     print a kubeconfig that leads to the server and runs login
                 (gatehouse login --help, and so on, has their options)

The commands of the server and its operators are in the image and in a checkout.

Exit codes: 0 success, 1 failed while running, 2 wrong arguments
`;
