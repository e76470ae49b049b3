import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The nodes, as a client reads them. */
interface Nodes {
  /** Their names. */
  List<String> list() throws Exception;

  /** Tells each event, for ever. Throws when it cannot go on. */
  void watch() throws Exception;

  /** Prints what a watch saw. `node` may be absent. */
  static void tell(String type, String node) {
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("step", "watch");
    line.put("type", type);
    if (node != null) line.put("node", node);
    Main.say(line);
  }
}
