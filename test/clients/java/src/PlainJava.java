import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import com.nimbusds.jose.util.JSONObjectUtils;
import java.io.InputStream;
import java.math.BigInteger;
import java.net.HttpURLConnection;
import java.net.URL;
import java.net.URLEncoder;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.RSAPublicKeySpec;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/**
 * What comes with Java: HttpURLConnection with the headers that it sends by itself, and java.security. In old ones its Accept is
 * `text/html, image/gif, image/jpeg, *; q=.2, *&#47;*; q=.2`.
 */
final class PlainJava implements Client {
  private final Told told;

  PlainJava(Told told) {
    this.told = told;
  }

  @Override
  public Tokens signIn() throws Exception {
    return ask("grant_type=password&username=" + encoded(told.username) + "&password=" + encoded(told.password));
  }

  @Override
  public Tokens refresh(String refreshToken) throws Exception {
    return ask("grant_type=refresh_token&refresh_token=" + encoded(refreshToken));
  }

  /** docs/tokens.md: id and secret are form-encoded before they become Base64 (RFC 6749 2.3.1). */
  private Tokens ask(String form) throws Exception {
    HttpURLConnection connection = connect(told.issuer + "/token");
    String clientId = told.clientId;
    String clientSecret = told.clientSecret;
    String pair = URLEncoder.encode(clientId, UTF_8) + ":" + URLEncoder.encode(clientSecret, UTF_8);
    connection.setRequestProperty("Authorization", "Basic " + Base64.getEncoder().encodeToString(pair.getBytes(UTF_8)));
    connection.setDoOutput(true);
    connection.getOutputStream().write(form.getBytes(UTF_8));
    Map<String, Object> answer = read(connection);
    return new Tokens((String) answer.get("access_token"), (String) answer.get("refresh_token"));
  }

  @Override
  public String subjectOf(String accessToken) throws Exception {
    String[] parts = accessToken.split("\\.");
    Map<String, Object> header = decoded(parts[0]);
    if (!"RS256".equals(header.get("alg")) || !"at+jwt".equals(header.get("typ"))) throw new GeneralSecurityException("header");
    Signature signature = Signature.getInstance("SHA256withRSA");
    signature.initVerify(keyOf((String) header.get("kid")));
    signature.update((parts[0] + "." + parts[1]).getBytes(US_ASCII));
    if (!signature.verify(Base64.getUrlDecoder().decode(parts[2]))) throw new GeneralSecurityException("signature");
    Map<String, Object> claims = decoded(parts[1]);
    boolean isOurs = told.issuer.equals(claims.get("iss")) && List.of(told.issuer).equals(claims.get("aud"));
    long now = System.currentTimeMillis() / 1_000;
    if (!isOurs || ((Number) claims.get("exp")).longValue() < now) throw new GeneralSecurityException("claims");
    return (String) claims.get("sub");
  }

  private PublicKey keyOf(String id) throws Exception {
    Map<String, Object> published = read(connect(told.issuer + "/keys"));
    for (Map<String, Object> key : JSONObjectUtils.getJSONObjectArray(published, "keys"))
      if (id.equals(key.get("kid"))) {
        RSAPublicKeySpec spec = new RSAPublicKeySpec(number(key.get("n")), number(key.get("e")));
        return KeyFactory.getInstance("RSA").generatePublic(spec);
      }
    throw new GeneralSecurityException("no key " + id);
  }

  @Override
  public Answer get(String url, String accessToken) throws Exception {
    HttpURLConnection connection = connect(url);
    connection.setRequestProperty("Authorization", "Bearer " + accessToken);
    return opened(connection);
  }

  /** Its body is in another stream when the status is an error. */
  static Answer opened(HttpURLConnection connection) throws Exception {
    int status = connection.getResponseCode();
    InputStream body = status < 400 ? connection.getInputStream() : connection.getErrorStream();
    return new Answer(status, body == null ? InputStream.nullInputStream() : body, connection::disconnect);
  }

  private static HttpURLConnection connect(String url) throws Exception {
    return (HttpURLConnection) new URL(url).openConnection();
  }

  private static Map<String, Object> read(HttpURLConnection connection) throws Exception {
    try (Answer answer = opened(connection)) {
      String body = new String(answer.body.readAllBytes(), UTF_8);
      if (answer.status != 200) throw new IllegalStateException(connection.getURL() + " answered " + answer.status + " " + body);
      return JSONObjectUtils.parse(body);
    }
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, UTF_8);
  }

  private static Map<String, Object> decoded(String part) throws Exception {
    return JSONObjectUtils.parse(new String(Base64.getUrlDecoder().decode(part), UTF_8));
  }

  private static BigInteger number(Object base64url) {
    return new BigInteger(1, Base64.getUrlDecoder().decode((String) base64url));
  }
}
