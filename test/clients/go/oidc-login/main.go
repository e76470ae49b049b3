// oidc-login is an exec credential plug-in for kubectl that sends what kubelogin (`kubectl oidc-login get-token`) sends, in its order
// and with the libraries that it is made of. The flags have kubelogin's names.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientauthentication "k8s.io/client-go/pkg/apis/clientauthentication/v1"
)

// repeated is a flag that may be given several times.
type repeated []string

func (r *repeated) String() string { return strings.Join(*r, ",") }

func (r *repeated) Set(value string) error {
	*r = append(*r, value)
	return nil
}

type options struct {
	issuer       string
	clientID     string
	clientSecret string
	extraScopes  repeated
	listen       repeated
	authority    string
	pkceMethod   string
	cacheDir     string
}

func readOptions() options {
	var o options
	flag.StringVar(&o.issuer, "oidc-issuer-url", "", "")
	flag.StringVar(&o.clientID, "oidc-client-id", "", "")
	flag.StringVar(&o.clientSecret, "oidc-client-secret", "", "")
	flag.Var(&o.extraScopes, "oidc-extra-scope", "")
	flag.Var(&o.listen, "listen-address", "")
	flag.StringVar(&o.authority, "certificate-authority", "", "")
	flag.StringVar(&o.pkceMethod, "oidc-pkce-method", "auto", "auto, S256 or no")
	flag.StringVar(&o.cacheDir, "token-cache-dir", "", "")
	flag.Parse()
	if len(o.listen) == 0 {
		o.listen = repeated{"127.0.0.1:8000", "127.0.0.1:18000"}
	}
	return o
}

// trusting is an HTTP client that trusts the authority in this file.
func trusting(file string) (*http.Client, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s has no certificate", file)
	}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}, nil
}

// login is a client of the issuer after discovery.
type login struct {
	provider *oidc.Provider
	config   oauth2.Config
	isPKCE   bool
	listen   []string
}

// discover asks for the metadata. The scopes end with openid, and x/oauth2 finds out how the client authenticates.
func discover(ctx context.Context, o options) (*login, error) {
	provider, err := oidc.NewProvider(ctx, o.issuer)
	if err != nil {
		return nil, err
	}
	var metadata struct {
		Methods []string `json:"code_challenge_methods_supported"`
	}
	if err := provider.Claims(&metadata); err != nil {
		return nil, err
	}
	return &login{
		provider: provider,
		config: oauth2.Config{
			Endpoint:     provider.Endpoint(),
			ClientID:     o.clientID,
			ClientSecret: o.clientSecret,
			Scopes:       append(o.extraScopes, oidc.ScopeOpenID),
		},
		isPKCE: o.pkceMethod == "S256" || o.pkceMethod == "auto" && slices.Contains(metadata.Methods, "S256"),
		listen: o.listen,
	}, nil
}

func (l *login) refresh(ctx context.Context, refreshToken string) (*tokenSet, error) {
	old := &oauth2.Token{Expiry: time.Now(), RefreshToken: refreshToken}
	token, err := l.config.TokenSource(ctx, old).Token()
	if err != nil {
		return nil, err
	}
	return l.verify(ctx, token, "")
}

// verify judges the ID token, without which there is nothing to give to kubectl. A refresh has no nonce.
func (l *login) verify(ctx context.Context, token *oauth2.Token, nonce string) (*tokenSet, error) {
	text, ok := token.Extra("id_token").(string)
	if !ok {
		return nil, errors.New("the answer has no ID token")
	}
	verified, err := l.provider.Verifier(&oidc.Config{ClientID: l.config.ClientID}).Verify(ctx, text)
	if err != nil {
		return nil, err
	}
	if nonce != "" && verified.Nonce != nonce {
		return nil, fmt.Errorf("the ID token has the nonce %q", verified.Nonce)
	}
	if err := verified.VerifyAccessToken(token.AccessToken); err != nil {
		return nil, err
	}
	return &tokenSet{IDToken: text, RefreshToken: token.RefreshToken}, nil
}

// getToken uses the cached ID token until it ends, then the refresh token, and then asks the person to sign in.
func getToken(ctx context.Context, o options) (*tokenSet, error) {
	cache := cacheOf(o)
	cached := cache.read()
	if cached.isValid(time.Now()) {
		return cached, nil
	}
	login, err := discover(ctx, o)
	if err != nil {
		return nil, err
	}
	if cached != nil && cached.RefreshToken != "" {
		refreshed, err := login.refresh(ctx, cached.RefreshToken)
		if err == nil {
			return refreshed, cache.write(refreshed)
		}
		log.Printf("could not refresh the token: %v", err)
	}
	signedIn, err := login.byBrowser(ctx)
	if err != nil {
		return nil, err
	}
	return signedIn, cache.write(signedIn)
}

func printCredential(tokens *tokenSet) error {
	end := metav1.NewTime(tokens.end())
	return json.NewEncoder(os.Stdout).Encode(clientauthentication.ExecCredential{
		TypeMeta: metav1.TypeMeta{APIVersion: clientauthentication.SchemeGroupVersion.String(), Kind: "ExecCredential"},
		Status:   &clientauthentication.ExecCredentialStatus{Token: tokens.IDToken, ExpirationTimestamp: &end},
	})
}

func main() {
	log.SetFlags(0)
	o := readOptions()
	client, err := trusting(o.authority)
	if err != nil {
		log.Fatal(err)
	}
	tokens, err := getToken(oidc.ClientContext(context.Background(), client), o)
	if err != nil {
		log.Fatalf("error: %v", err)
	}
	if err := printCredential(tokens); err != nil {
		log.Fatal(err)
	}
}
