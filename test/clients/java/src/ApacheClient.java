import com.nimbusds.jose.util.JSONObjectUtils;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.hc.client5.http.classic.methods.HttpGet;
import org.apache.hc.client5.http.classic.methods.HttpPost;
import org.apache.hc.client5.http.entity.UrlEncodedFormEntity;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.http.HttpEntity;
import org.apache.hc.core5.http.NameValuePair;
import org.apache.hc.core5.http.message.BasicNameValuePair;

/** Apache HttpClient 5, which trusts what Java trusts. Its form says `; charset=ISO-8859-1` unless it is told otherwise, and here it is not. */
final class ApacheClient implements Client {
  private final Told told;
  private final CloseableHttpClient http = HttpClients.createSystem();
  private final PublishedKeys keys;

  ApacheClient(Told told) {
    this.told = told;
    this.keys = new PublishedKeys(told);
  }

  @Override
  public Tokens signIn() throws Exception {
    return ask(pair("grant_type", "password"), pair("username", told.username), pair("password", told.password));
  }

  @Override
  public Tokens refresh(String refreshToken) throws Exception {
    return ask(pair("grant_type", "refresh_token"), pair("refresh_token", refreshToken));
  }

  private Tokens ask(NameValuePair... parameters) throws Exception {
    List<NameValuePair> form = new ArrayList<>(List.of(parameters));
    form.add(pair("client_id", told.clientId));
    form.add(pair("client_secret", told.clientSecret));
    HttpPost post = new HttpPost(told.issuer + "/token");
    post.setEntity(new UrlEncodedFormEntity(form));
    Map<String, Object> answer = JSONObjectUtils.parse(http.execute(post, ApacheClient::read));
    return new Tokens((String) answer.get("access_token"), (String) answer.get("refresh_token"));
  }

  /** HttpClient knows nothing of tokens: Nimbus judges, by keys that HttpClient has fetched. */
  @Override
  public String subjectOf(String accessToken) throws Exception {
    return keys.subjectOf(accessToken, http.execute(new HttpGet(told.issuer + "/keys"), ApacheClient::read));
  }

  @Override
  public Answer get(String url, String accessToken) throws Exception {
    return ask(new HttpGet(url), accessToken);
  }

  /** docs/watch.md: what Java inflates is held back until 8,192 characters are there. */
  @Override
  public Answer open(String url, String accessToken) throws Exception {
    HttpGet get = new HttpGet(url);
    get.setHeader("Accept-Encoding", "identity");
    return ask(get, accessToken);
  }

  private Answer ask(HttpGet get, String accessToken) throws Exception {
    get.setHeader("Authorization", "Bearer " + accessToken);
    ClassicHttpResponse response = http.executeOpen(null, get, null);
    HttpEntity entity = response.getEntity();
    return new Answer(response.getCode(), entity == null ? InputStream.nullInputStream() : entity.getContent(), response);
  }

  private static String read(ClassicHttpResponse response) throws IOException {
    String body = new String(response.getEntity().getContent().readAllBytes(), StandardCharsets.UTF_8);
    if (response.getCode() != 200) throw new IllegalStateException("answered " + response.getCode() + " " + body);
    return body;
  }

  private static NameValuePair pair(String name, String value) {
    return new BasicNameValuePair(name, value);
  }
}
