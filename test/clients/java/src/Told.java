import com.nimbusds.jose.util.JSONObjectUtils;
import java.io.FileInputStream;
import java.io.InputStream;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** What the program is told in the variable `CLIENT`. */
final class Told {
  final String url;
  final String issuer;
  final String nodes;
  final String username;
  final String password;
  final String clientId;
  final String clientSecret;
  /** Of a user who has signed in already. */
  final String token;
  /** The file with the certificate that is trusted. */
  final String ca;

  Told() throws Exception {
    Map<String, Object> told = JSONObjectUtils.parse(System.getenv("CLIENT"));
    url = (String) told.get("url");
    issuer = (String) told.get("issuer");
    nodes = (String) told.get("nodes");
    username = (String) told.get("username");
    password = (String) told.get("password");
    clientId = (String) told.get("clientId");
    clientSecret = (String) told.get("clientSecret");
    token = (String) told.get("token");
    ca = (String) told.get("ca");
    // Each library takes its trust from here, unless it is told otherwise.
    SSLContext.setDefault(trusting(ca));
  }

  private static SSLContext trusting(String file) throws Exception {
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null);
    try (InputStream pem = new FileInputStream(file)) {
      store.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(pem));
    }
    TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(store);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, factory.getTrustManagers(), null);
    return context;
  }
}
