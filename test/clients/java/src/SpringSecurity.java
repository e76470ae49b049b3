import java.net.URI;
import java.util.Map;
import org.springframework.http.HttpMethod;
import org.springframework.http.client.ClientHttpResponse;
import org.springframework.http.client.SimpleClientHttpRequestFactory;
import org.springframework.security.core.Authentication;
import org.springframework.security.oauth2.jwt.JwtValidators;
import org.springframework.security.oauth2.jwt.NimbusJwtDecoder;
import org.springframework.security.oauth2.server.resource.authentication.BearerTokenAuthenticationToken;
import org.springframework.security.oauth2.server.resource.authentication.JwtAuthenticationProvider;
import org.springframework.util.LinkedMultiValueMap;
import org.springframework.util.MultiValueMap;
import org.springframework.web.client.RestTemplate;

/** Spring Security's resource server, and Spring's RestTemplate for what it does not do. */
final class SpringSecurity implements Client {
  private final Told told;
  private final RestTemplate rest = new RestTemplate();
  private final JwtAuthenticationProvider resourceServer;

  SpringSecurity(Told told) {
    this.told = told;
    this.resourceServer = new JwtAuthenticationProvider(decoder(told.issuer, told.clientId));
  }

  /** The lines of docs/tokens.md. */
  static NimbusJwtDecoder decoder(String issuer, String clientId) {
    NimbusJwtDecoder decoder = NimbusJwtDecoder.withIssuerLocation(issuer).validateType(false).build();
    decoder.setJwtValidator(JwtValidators.createAtJwtValidator().issuer(issuer).audience(issuer).clientId(clientId).build());
    return decoder;
  }

  @Override
  public Tokens signIn() {
    return ask(Map.of("grant_type", "password", "username", told.username, "password", told.password));
  }

  @Override
  public Tokens refresh(String refreshToken) {
    return ask(Map.of("grant_type", "refresh_token", "refresh_token", refreshToken));
  }

  private Tokens ask(Map<String, String> parameters) {
    MultiValueMap<String, String> form = new LinkedMultiValueMap<>();
    form.setAll(parameters);
    form.set("client_id", told.clientId);
    form.set("client_secret", told.clientSecret);
    Map<?, ?> answer = rest.postForObject(URI.create(told.issuer + "/token"), form, Map.class);
    return new Tokens((String) answer.get("access_token"), (String) answer.get("refresh_token"));
  }

  @Override
  public String subjectOf(String accessToken) {
    Authentication caller = resourceServer.authenticate(new BearerTokenAuthenticationToken(accessToken));
    return caller.getName();
  }

  @Override
  public Answer get(String url, String accessToken) throws Exception {
    var request = new SimpleClientHttpRequestFactory().createRequest(URI.create(url), HttpMethod.GET);
    request.getHeaders().setBearerAuth(accessToken);
    ClientHttpResponse response = request.execute();
    return new Answer(response.getStatusCode().value(), response.getBody(), response::close);
  }
}
