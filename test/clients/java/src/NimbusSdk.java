import com.nimbusds.oauth2.sdk.AuthorizationGrant;
import com.nimbusds.oauth2.sdk.RefreshTokenGrant;
import com.nimbusds.oauth2.sdk.ResourceOwnerPasswordCredentialsGrant;
import com.nimbusds.oauth2.sdk.TokenRequest;
import com.nimbusds.oauth2.sdk.TokenResponse;
import com.nimbusds.oauth2.sdk.auth.ClientSecretBasic;
import com.nimbusds.oauth2.sdk.auth.Secret;
import com.nimbusds.oauth2.sdk.http.HTTPRequest;
import com.nimbusds.oauth2.sdk.id.ClientID;
import com.nimbusds.oauth2.sdk.id.Issuer;
import com.nimbusds.oauth2.sdk.token.BearerAccessToken;
import com.nimbusds.oauth2.sdk.token.RefreshToken;
import com.nimbusds.openid.connect.sdk.op.OIDCProviderMetadata;
import java.net.URI;

/** Nimbus' OAuth 2.0 SDK, which finds the endpoints by discovery, and its JOSE library, which fetches the published keys. */
final class NimbusSdk implements Client {
  private final Told told;
  private final OIDCProviderMetadata server;
  private final PublishedKeys keys;

  NimbusSdk(Told told) throws Exception {
    this.told = told;
    String issuer = told.issuer;
    OIDCProviderMetadata server = OIDCProviderMetadata.resolve(new Issuer(issuer));
    this.server = server;
    this.keys = new PublishedKeys(told);
  }

  @Override
  public Tokens signIn() throws Exception {
    String username = told.username;
    String password = told.password;
    AuthorizationGrant grant = new ResourceOwnerPasswordCredentialsGrant(username, new Secret(password));
    return ask(grant);
  }

  @Override
  public Tokens refresh(String text) throws Exception {
    RefreshToken refreshToken = new RefreshToken(text);
    return ask(new RefreshTokenGrant(refreshToken));
  }

  private Tokens ask(AuthorizationGrant grant) throws Exception {
    String clientId = told.clientId;
    String clientSecret = told.clientSecret;
    ClientSecretBasic client = new ClientSecretBasic(new ClientID(clientId), new Secret(clientSecret));
    TokenRequest request = new TokenRequest.Builder(server.getTokenEndpointURI(), client, grant).build();
    TokenResponse answer = TokenResponse.parse(request.toHTTPRequest().send());
    if (!answer.indicatesSuccess()) throw new IllegalStateException(answer.toErrorResponse().toJSONObject().toString());
    com.nimbusds.oauth2.sdk.token.Tokens tokens = answer.toSuccessResponse().getTokens();
    return new Tokens(tokens.getAccessToken().getValue(), tokens.getRefreshToken().getValue());
  }

  @Override
  public String subjectOf(String accessToken) throws Exception {
    return keys.subjectOf(accessToken, server.getJWKSetURI().toURL());
  }

  /** The SDK's own `send` reads the whole body before it answers. */
  @Override
  public Answer get(String url, String accessToken) throws Exception {
    HTTPRequest request = new HTTPRequest(HTTPRequest.Method.GET, URI.create(url));
    request.setAuthorization(new BearerAccessToken(accessToken).toAuthorizationHeader());
    return PlainJava.opened(request.toHttpURLConnection());
  }
}
