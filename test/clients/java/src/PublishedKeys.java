import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.source.ImmutableJWKSet;
import com.nimbusds.jose.jwk.source.JWKSource;
import com.nimbusds.jose.jwk.source.JWKSourceBuilder;
import com.nimbusds.jose.proc.DefaultJOSEObjectTypeVerifier;
import com.nimbusds.jose.proc.JWSVerificationKeySelector;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.proc.DefaultJWTClaimsVerifier;
import com.nimbusds.jwt.proc.DefaultJWTProcessor;
import java.net.URL;
import java.util.Set;

/** Nimbus' JOSE library with the settings that docs/tokens.md has for it. */
final class PublishedKeys {
  private final Told told;
  private JWKSource<SecurityContext> remote;

  PublishedKeys(Told told) {
    this.told = told;
  }

  /** Fetches the keys itself, and keeps them. */
  String subjectOf(String accessToken, URL keys) throws Exception {
    if (remote == null) remote = JWKSourceBuilder.<SecurityContext>create(keys).build();
    return subjectOf(accessToken, remote);
  }

  /** `keys`: as they are published. */
  String subjectOf(String accessToken, String keys) throws Exception {
    return subjectOf(accessToken, new ImmutableJWKSet<>(JWKSet.parse(keys)));
  }

  private String subjectOf(String accessToken, JWKSource<SecurityContext> keys) throws Exception {
    String issuer = told.issuer;
    DefaultJWTProcessor<SecurityContext> processor = new DefaultJWTProcessor<>();
    processor.setJWSKeySelector(new JWSVerificationKeySelector<>(JWSAlgorithm.RS256, keys));
    processor.setJWSTypeVerifier(new DefaultJOSEObjectTypeVerifier<>(new JOSEObjectType("at+jwt")));
    JWTClaimsSet expected = new JWTClaimsSet.Builder().issuer(issuer).build();
    processor.setJWTClaimsSetVerifier(new DefaultJWTClaimsVerifier<>(issuer, expected, Set.of("sub", "exp")));
    return processor.process(accessToken, null).getSubject();
  }
}
