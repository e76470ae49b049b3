import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.env.Environment;
import org.elasticsearch.http.HttpServerTransport;
import org.elasticsearch.node.Node;
import org.elasticsearch.transport.Netty4Plugin;

/** One node of Elasticsearch 6 or 7 in this process, on 127.0.0.1. Arguments: its folder, and a file of settings, one `name: value` a line. */
public class Elasticsearch {
    /** The constructor that takes classes of plug-ins is protected: only a subclass may use it. */
    static class EmbeddedNode extends Node {
        EmbeddedNode(Environment environment) {
            super(environment, List.of(Netty4Plugin.class), false);
        }

        /** Elasticsearch 6 alone wants it, and would write the name into its log lines. */
        protected void registerDerivedNodeNameWithLogger(String name) {
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
