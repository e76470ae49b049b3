import com.nimbusds.jose.util.JSONObjectUtils;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/** Does the steps that the standard input names with the client of the first argument, and prints a line of JSON for each. */
public final class Main {
  private final Client client;
  private final Nodes nodes;
  private volatile Client.Tokens tokens;

  private Main(Told told, String name) throws Exception {
    boolean isKubernetes = name.equals("kubernetes");
    this.client = isKubernetes ? null : clientOf(name, told);
    this.nodes = isKubernetes ? new KubernetesNodes(told) : new LineNodes(told, client, () -> tokens.access);
  }

  public static void main(String[] arguments) throws Exception {
    Main main = new Main(new Told(), arguments[0]);
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = input.readLine(); line != null; line = input.readLine()) main.take(JSONObjectUtils.parse(line));
    System.exit(0); // a watch is open still
  }

  /** A class is loaded when it is asked for: that of Spring needs Java 17. */
  private static Client clientOf(String name, Told told) throws Exception {
    switch (name) {
      case "java": return new PlainJava(told);
      case "apache": return new ApacheClient(told);
      case "nimbus": return new NimbusSdk(told);
      case "spring": return new SpringSecurity(told);
      default: throw new IllegalArgumentException(name);
    }
  }

  private void take(Map<String, Object> asked) {
    String step = (String) asked.get("step");
    if (step.equals("watch")) {
      Thread thread = new Thread(this::watch);
      thread.setDaemon(true);
      thread.start();
      return;
    }
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("step", step);
    try {
      take(step, asked, line);
      line.put("ok", true);
    } catch (Exception error) {
      line.put("ok", false);
      line.put("error", error.toString());
    }
    say(line);
  }

  private void take(String step, Map<String, Object> asked, Map<String, Object> line) throws Exception {
    switch (step) {
      case "sign-in":
        tokens = client.signIn();
        line.put("token", tokens.access);
        break;
      case "verify":
        line.put("subject", client.subjectOf((String) asked.get("token")));
        break;
      case "list":
        line.put("nodes", nodes.list());
        break;
      case "refresh":
        tokens = client.refresh(tokens.refresh);
        line.put("token", tokens.access);
        line.put("nodes", nodes.list());
        break;
      default:
        throw new IllegalArgumentException(step);
    }
  }

  private void watch() {
    try {
      nodes.watch();
    } catch (Exception error) {
      Map<String, Object> line = new LinkedHashMap<>();
      line.put("step", "watch");
      line.put("ok", false);
      line.put("error", error.toString());
      say(line);
    }
  }

  /** Prints a line. The watch prints from a thread of its own. */
  static synchronized void say(Map<String, Object> line) {
    System.out.println(JSONObjectUtils.toJSONString(line));
    System.out.flush();
  }
}
