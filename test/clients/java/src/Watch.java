import com.nimbusds.jose.util.JSONObjectUtils;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/** Follows the node list as docs/watch.md says that a client does: it asks again with the version of the last event. */
final class Watch implements Runnable {
  interface Opener {
    Client.Answer open(String url) throws Exception;
  }

  /** Between two attempts, while nobody listens. */
  private static final long PAUSE_MS = 200;

  private final String nodes;
  private final Opener opener;
  /** Of the last event. Absent: everything is asked for. */
  private String version;

  Watch(String nodes, Opener opener) {
    this.nodes = nodes;
    this.opener = opener;
  }

  @Override
  public void run() {
    try {
      while (true) {
        try {
          follow();
        } catch (IOException gone) {
          System.err.println(gone);
        }
        Thread.sleep(PAUSE_MS);
      }
    } catch (Exception error) {
      Map<String, Object> line = new LinkedHashMap<>();
      line.put("step", "watch");
      line.put("ok", false);
      line.put("error", error.toString());
      Main.say(line);
    }
  }

  private void follow() throws Exception {
    String from = version == null ? "" : "&resourceVersion=" + URLEncoder.encode(version, StandardCharsets.UTF_8);
    try (Client.Answer answer = opener.open(nodes + "?watch=true" + from)) {
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
    if (!type.equals("BOOKMARK")) tell(type, (String) metadata.get("name"));
  }

  private void startAgain() {
    version = null;
    tell("RESET", null);
  }

  private static void tell(String type, String node) {
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("step", "watch");
    line.put("type", type);
    if (node != null) line.put("node", node);
    Main.say(line);
  }
}
