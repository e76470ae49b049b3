import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.zip.ZipFile;
import org.elasticsearch.common.logging.LogConfigurator;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.env.Environment;
import org.elasticsearch.http.HttpServerTransport;
import org.elasticsearch.node.Node;
import org.elasticsearch.plugins.PluginsLoader;

/**
 * One node of Elasticsearch 8 in this process, on 127.0.0.1. Arguments: its folder, a file of settings, one `name: value` a line, and the
 * folder with the jars of its network module, which must not be on the class path.
 */
public class Elasticsearch8 {
    private static final String NAME = "transport-netty4";
    private static final String DESCRIPTOR = "plugin-descriptor.properties";

    public static void main(String[] arguments) throws Exception {
        LogConfigurator.configureESLogging();
        Path home = Files.createDirectories(Path.of(arguments[0]).toAbsolutePath());
        Settings settings = Settings.builder().put("path.home", home.toString()).loadFromPath(Path.of(arguments[1])).build();
        Environment environment = new Environment(settings, home.resolve("config"));
        install(Path.of(arguments[2]), Files.createDirectories(environment.modulesDir().resolve(NAME)));
        var bundles = PluginsLoader.loadModulesBundles(environment.modulesDir());
        Node node = new Node(environment, PluginsLoader.createPluginsLoader(bundles, Set.of(), Map.of(), false));
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

    /** A module is its jars and its descriptor, which is inside one of them. Without a `modulename` it is loaded from a class path. */
    private static void install(Path jars, Path module) throws Exception {
        try (DirectoryStream<Path> all = Files.newDirectoryStream(jars, "*.jar")) {
            for (Path jar : all) {
                Files.copy(jar, module.resolve(jar.getFileName()));
                if (!jar.getFileName().toString().startsWith(NAME)) continue;
                try (ZipFile zip = new ZipFile(jar.toFile())) {
                    var entry = zip.getEntry("META-INF/es-plugins/" + NAME + "/" + DESCRIPTOR);
                    String text = new String(zip.getInputStream(entry).readAllBytes());
                    List<String> lines = text.lines().filter(line -> !line.startsWith("modulename")).toList();
                    Files.write(module.resolve(DESCRIPTOR), lines);
                }
            }
        }
    }
}
