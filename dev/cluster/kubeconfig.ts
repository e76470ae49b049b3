/** A kubeconfig file for one cluster and one bearer token. */
export const kubeconfigText = (server: string, token: string): string => `apiVersion: v1
kind: Config
clusters:
  - name: simulated
    cluster:
      server: ${server}
users:
  - name: user
    user:
      token: ${token}
contexts:
  - name: simulated
    context:
      cluster: simulated
      user: user
current-context: simulated
`;
