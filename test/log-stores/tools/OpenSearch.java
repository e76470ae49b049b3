import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.http.HttpServerTransport;
import org.opensearch.node.Node;
import org.opensearch.plugins.Plugin;
import org.opensearch.transport.Netty4Plugin;

/** One node of OpenSearch 1 or 2 in this process, on 127.0.0.1. Arguments: its folder, and a file of settings, one `name: value` a line. */
public class OpenSearch {
    /** The constructor that takes classes of plug-ins is protected: only a subclass may use it. */
    static class EmbeddedNode extends Node {
        EmbeddedNode(Environment environment) {
            super(environment, plugins(), false);
        }

        /** Those of pipelines are there in OpenSearch 2 only: its pom.xml names them. */
        static List<Class<? extends Plugin>> plugins() {
            List<Class<? extends Plugin>> found = new ArrayList<>(List.of(Netty4Plugin.class));
            for (String name : List.of("org.opensearch.ingest.common.IngestCommonPlugin", "org.opensearch.painless.PainlessPlugin")) {
                try {
                    found.add(Class.forName(name).asSubclass(Plugin.class));
                } catch (ClassNotFoundException absent) {
                    // a store without the module
                }
            }
            return found;
        }
    }

    public static void main(String[] arguments) throws Exception {
        Path home = Files.createDirectories(Path.of(arguments[0]).toAbsolutePath());
        Settings settings = Settings.builder().put("path.home", home.toString()).loadFromPath(Path.of(arguments[1])).build();
        Node node = new EmbeddedNode(new Environment(settings, home.resolve("config")));
        node.start();
        System.out.println("ready http://" + node.injector().getInstance(HttpServerTransport.class).boundAddress().publishAddress());
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                node.close();
            } catch (Exception error) {
                error.printStackTrace();
            }
        }));
        new CountDownLatch(1).await();
    }
}
