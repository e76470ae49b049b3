package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// answer is what the browser brought back.
type answer struct {
	code string
	err  error
}

// byBrowser tells the person an address of its own, from which it redirects to the issuer, and waits for the code.
func (l *login) byBrowser(ctx context.Context) (*tokenSet, error) {
	listener, err := listen(l.listen)
	if err != nil {
		return nil, err
	}
	// Without a path, as kubelogin has it.
	l.config.RedirectURL = fmt.Sprintf("http://localhost:%d", listener.Addr().(*net.TCPAddr).Port)
	state, nonce, verifier := rand.Text(), rand.Text(), oauth2.GenerateVerifier()
	answers := make(chan answer, 1)
	server := &http.Server{Handler: l.handler(state, l.requestURL(state, nonce, verifier), answers)}
	go func() { _ = server.Serve(listener) }()
	log.Printf("Please visit the following URL in your browser: %s/", l.config.RedirectURL)
	code, err := wait(answers)
	if err := server.Shutdown(ctx); err != nil {
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	token, err := l.config.Exchange(ctx, code, l.proof(verifier)...)
	if err != nil {
		return nil, err
	}
	return l.verify(ctx, token, nonce)
}

// patience is kubelogin's default of --authentication-timeout-sec.
const patience = 180 * time.Second

func wait(answers <-chan answer) (string, error) {
	select {
	case got := <-answers:
		return got.code, got.err
	case <-time.After(patience):
		return "", errors.New("nobody has signed in")
	}
}

// listen takes the first address that is free.
func listen(addresses []string) (net.Listener, error) {
	var failure error
	for _, address := range addresses {
		listener, err := net.Listen("tcp", address)
		if err == nil {
			return listener, nil
		}
		failure = err
	}
	return nil, failure
}

func (l *login) requestURL(state, nonce, verifier string) string {
	parameters := []oauth2.AuthCodeOption{oauth2.AccessTypeOffline, oidc.Nonce(nonce)}
	if l.isPKCE {
		parameters = append(parameters, oauth2.S256ChallengeOption(verifier))
	}
	return l.config.AuthCodeURL(state, parameters...)
}

func (l *login) proof(verifier string) []oauth2.AuthCodeOption {
	if !l.isPKCE {
		return nil
	}
	return []oauth2.AuthCodeOption{oauth2.VerifierOption(verifier)}
}

// handler redirects the first visit to the issuer, and takes the answer of the second.
func (l *login) handler(state, request string, answers chan<- answer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		got := answer{code: query.Get("code")}
		switch {
		case r.URL.Path != "/":
			http.NotFound(w, r)
			return
		case query.Get("error") != "":
			got.err = fmt.Errorf("authorization error: %s %s", query.Get("error"), query.Get("error_description"))
		case got.code == "":
			http.Redirect(w, r, request, http.StatusFound)
			return
		case query.Get("state") != state:
			got.err = fmt.Errorf("the state is %q", query.Get("state"))
		}
		fmt.Fprintln(w, "You can close this window.")
		select {
		case answers <- got:
		default: // a browser may open the address twice
		}
	})
}
