import com.google.gson.reflect.TypeToken;
import io.kubernetes.client.openapi.ApiClient;
import io.kubernetes.client.openapi.ApiException;
import io.kubernetes.client.openapi.apis.CoreV1Api;
import io.kubernetes.client.openapi.models.V1Node;
import io.kubernetes.client.openapi.models.V1NodeList;
import io.kubernetes.client.util.ClientBuilder;
import io.kubernetes.client.util.Watch;
import io.kubernetes.client.util.credentials.AccessTokenAuthentication;
import java.lang.reflect.Type;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The official client of Kubernetes for Java, on the nodes of the cluster through the gateway. */
final class KubernetesNodes implements Nodes {
  private static final Type EVENT = new TypeToken<Watch.Response<V1Node>>() {}.getType();
  /** Between two attempts, while nobody listens. */
  private static final long PAUSE_MS = 200;

  private final ApiClient client;
  private final CoreV1Api api;

  KubernetesNodes(Told told) throws Exception {
    client = new ClientBuilder()
        .setBasePath(told.url)
        .setCertificateAuthority(Files.readAllBytes(Path.of(told.ca)))
        .setAuthentication(new AccessTokenAuthentication(told.token))
        .build();
    api = new CoreV1Api(client);
  }

  @Override
  public List<String> list() throws Exception {
    List<String> names = new ArrayList<>();
    for (V1Node node : api.listNode().execute().getItems()) names.add(node.getMetadata().getName());
    return names;
  }

  @Override
  public void watch() throws Exception {
    V1NodeList list = api.listNode().execute();
    for (V1Node node : list.getItems()) Nodes.tell("ADDED", node.getMetadata().getName());
    String version = list.getMetadata().getResourceVersion();
    while (true) {
      try (Watch<V1Node> events = Watch.createWatch(client, api.listNode().watch(true).resourceVersion(version).buildCall(null), EVENT)) {
        while (events.hasNext()) {
          Watch.Response<V1Node> event = events.next();
          version = event.object.getMetadata().getResourceVersion();
          Nodes.tell(event.type, event.object.getMetadata().getName());
        }
      } catch (ApiException | RuntimeException gone) {
        System.err.println(gone);
      }
      Thread.sleep(PAUSE_MS);
    }
  }
}
