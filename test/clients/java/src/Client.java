import java.io.InputStream;

/** A library that nobody here wrote, as far as the steps need it. */
interface Client {
  /** What the token endpoint answered. */
  final class Tokens {
    final String access;
    final String refresh;

    Tokens(String access, String refresh) {
      this.access = access;
      this.refresh = refresh;
    }
  }

  /** An answer whose body is read as it comes. */
  final class Answer implements AutoCloseable {
    final int status;
    final InputStream body;
    private final AutoCloseable connection;

    Answer(int status, InputStream body, AutoCloseable connection) {
      this.status = status;
      this.body = body;
      this.connection = connection;
    }

    @Override
    public void close() throws Exception {
      connection.close();
    }
  }

  /** By the password grant. */
  Tokens signIn() throws Exception;

  /** By the refresh token grant. */
  Tokens refresh(String refreshToken) throws Exception;

  /** The `sub` of an access token that the published keys have signed. Throws for any other. */
  String subjectOf(String accessToken) throws Exception;

  /** Nothing is read of the body before the caller reads. */
  Answer get(String url, String accessToken) throws Exception;

  /** A stream that is read line by line as it comes. */
  default Answer open(String url, String accessToken) throws Exception {
    return get(url, accessToken);
  }
}
