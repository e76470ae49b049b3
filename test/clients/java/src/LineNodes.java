import com.nimbusds.jose.util.JSONObjectUtils;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** The node list of Gatehouse, and its watch by lines of JSON as docs/watch.md says: it asks again with the version of the last event. */
final class LineNodes implements Nodes {
  /** Between two attempts, while nobody listens. */
  private static final long PAUSE_MS = 200;

  private final Told told;
  private final Client client;
  private final Supplier<String> token;
  /** Of the last event. Absent: everything is asked for. */
  private String version;

  LineNodes(Told told, Client client, Supplier<String> token) {
    this.told = told;
    this.client = client;
    this.token = token;
  }

  @Override
  public List<String> list() throws Exception {
    try (Client.Answer answer = client.get(told.nodes, token.get())) {
      String body = new String(answer.body.readAllBytes(), StandardCharsets.UTF_8);
      if (answer.status != 200) throw new IllegalStateException("the list was answered " + answer.status + " " + body);
      List<String> names = new ArrayList<>();
      for (Map<String, Object> item : JSONObjectUtils.getJSONObjectArray(JSONObjectUtils.parse(body), "items"))
        names.add((String) JSONObjectUtils.getJSONObject(item, "metadata").get("name"));
      return names;
    }
  }

  @Override
  public void watch() throws Exception {
    while (true) {
      try {
        follow();
      } catch (IOException gone) {
        System.err.println(gone);
      }
      Thread.sleep(PAUSE_MS);
    }
  }

  private void follow() throws Exception {
    String from = version == null ? "" : "&resourceVersion=" + URLEncoder.encode(version, StandardCharsets.UTF_8);
    try (Client.Answer answer = client.open(told.nodes + "?watch=true" + from, token.get())) {
      if (answer.status == 410) startAgain();
      if (answer.status == 410 || answer.status == 429 || answer.status == 503) return;
      if (answer.status != 200) throw new IllegalStateException("the watch was answered " + answer.status);
      BufferedReader lines = new BufferedReader(new InputStreamReader(answer.body, StandardCharsets.UTF_8));
      for (String line = lines.readLine(); line != null; line = lines.readLine()) take(JSONObjectUtils.parse(line));
    }
  }

  private void take(Map<String, Object> event) throws Exception {
    String type = (String) event.get("type");
    Map<String, Object> object = JSONObjectUtils.getJSONObject(event, "object");
    if (type.equals("ERROR")) {
      if (((Number) object.get("code")).intValue() == 410) startAgain();
      return;
    }
    Map<String, Object> metadata = JSONObjectUtils.getJSONObject(object, "metadata");
    version = (String) metadata.get("resourceVersion");
    if (!type.equals("BOOKMARK")) Nodes.tell(type, (String) metadata.get("name"));
  }

  private void startAgain() {
    version = null;
    Nodes.tell("RESET", null);
  }
}
