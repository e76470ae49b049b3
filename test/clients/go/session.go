package main

import (
	"context"
	"fmt"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// session is x/oauth2 and go-oidc as docs/tokens.md uses them.
type session struct {
	told   told
	config oauth2.Config
	source oauth2.TokenSource
}

func newSession(told told) *session {
	config := oauth2.Config{
		ClientID:     told.ClientID,
		ClientSecret: told.ClientSecret,
		Endpoint:     oauth2.Endpoint{TokenURL: told.Issuer + "/token", AuthStyle: oauth2.AuthStyleInHeader},
	}
	return &session{told: told, config: config}
}

func (s *session) signIn() (string, error) {
	config := s.config
	token, err := config.PasswordCredentialsToken(context.Background(), s.told.Username, s.told.Password)
	if err != nil {
		return "", err
	}
	source := config.TokenSource(context.Background(), token)
	s.source = source
	return token.AccessToken, nil
}

// Token is what the source has now. Clients are made before anybody has signed in.
func (s *session) Token() (*oauth2.Token, error) {
	if s.source == nil {
		return nil, fmt.Errorf("nobody has signed in")
	}
	return s.source.Token()
}

func (s *session) current() (string, error) {
	token, err := s.Token()
	if err != nil {
		return "", err
	}
	return token.AccessToken, nil
}

// verify judges an access token by the published keys, which are found by discovery.
func (s *session) verify(ctx context.Context, token string) (string, error) {
	issuer := s.told.Issuer
	provider, err := oidc.NewProvider(ctx, issuer)
	if err != nil {
		return "", err
	}
	verifier := provider.Verifier(&oidc.Config{ClientID: issuer})
	verified, err := verifier.Verify(ctx, token)
	if err != nil {
		return "", err
	}
	return verified.Subject, nil
}
