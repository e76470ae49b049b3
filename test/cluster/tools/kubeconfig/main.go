// Reads a JSON array of kubeconfigs, each the file that is named or the list of KUBECONFIG, and writes for each what
// client-go makes of it: where it goes, whom it trusts there, and what a request carries. An exec plugin is run.
package main

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"path"
	"strings"

	"golang.org/x/net/http/httpguts"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

type situation struct {
	Explicit string   `json:"explicit"`
	Files    []string `json:"files"`
}

type outcome struct {
	Error       string      `json:"error,omitempty"`
	Server      string      `json:"server,omitempty"`
	Namespace   string      `json:"namespace,omitempty"`
	Proxy       string      `json:"proxy,omitempty"`
	Headers     http.Header `json:"headers,omitempty"`
	Insecure    bool        `json:"insecure,omitempty"`
	ServerName  string      `json:"serverName,omitempty"`
	Authorities []string    `json:"authorities,omitempty"`
	Certificate []string    `json:"certificate,omitempty"`
}

func main() {
	var situations []situation
	if err := json.NewDecoder(os.Stdin).Decode(&situations); err != nil {
		log.Fatal(err)
	}
	outcomes := make([]outcome, 0, len(situations))
	for _, one := range situations {
		found, err := read(one)
		if err != nil {
			found = outcome{Error: err.Error()}
		}
		outcomes = append(outcomes, found)
	}
	if err := json.NewEncoder(os.Stdout).Encode(outcomes); err != nil {
		log.Fatal(err)
	}
}

func read(one situation) (outcome, error) {
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: one.Explicit, Precedence: one.Files}
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{})
	config, err := loader.ClientConfig()
	if err != nil {
		return outcome{}, err
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return outcome{}, err
	}
	server, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return outcome{}, err
	}
	found := outcome{Namespace: namespace, Server: server.Scheme + "://" + server.Host + strings.TrimRight(path.Join("/", server.Path), "/")}
	request, err := http.NewRequest("GET", server.String(), nil)
	if err != nil {
		return outcome{}, err
	}
	if config.Proxy != nil {
		proxy, err := config.Proxy(request)
		if err != nil {
			return outcome{}, err
		}
		found.Proxy = proxy.String()
	}
	if found.Headers, err = headers(config, request); err != nil {
		return outcome{}, err
	}
	if server.Scheme == "https" {
		err = found.addTrust(config)
	}
	return found, err
}

// The headers of a request as it leaves, or the error with which it does not.
func headers(config *rest.Config, request *http.Request) (http.Header, error) {
	var sent http.Header
	transport := transportFunc(func(request *http.Request) (*http.Response, error) {
		sent = request.Header
		return &http.Response{StatusCode: 200, Body: http.NoBody}, nil
	})
	wrapped, err := rest.HTTPWrappersForConfig(config, transport)
	if err != nil {
		return nil, err
	}
	if _, err := wrapped.RoundTrip(request); err != nil {
		return nil, err
	}
	// net/http does both before it writes.
	if user := request.URL.User; user != nil && sent.Get("Authorization") == "" {
		password, _ := user.Password()
		copied := &http.Request{Header: sent}
		copied.SetBasicAuth(user.Username(), password)
	}
	for name, values := range sent {
		for _, value := range values {
			if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
				return nil, fmt.Errorf("net/http: invalid header field value for %q", name)
			}
		}
	}
	return sent, nil
}

type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

func (found *outcome) addTrust(config *rest.Config) error {
	tlsConfig, err := rest.TLSConfigFor(config)
	if err != nil || tlsConfig == nil {
		return err
	}
	found.Insecure, found.ServerName = tlsConfig.InsecureSkipVerify, tlsConfig.ServerName
	if tlsConfig.RootCAs != nil {
		if found.Authorities, err = authorities(config, tlsConfig.RootCAs); err != nil {
			return err
		}
	}
	if tlsConfig.GetClientCertificate == nil {
		return nil
	}
	certificate, err := tlsConfig.GetClientCertificate(&tls.CertificateRequestInfo{})
	if err != nil {
		return err
	}
	for _, der := range certificate.Certificate {
		found.Certificate = append(found.Certificate, digest(der))
	}
	return nil
}

// A pool does not tell what it holds, so it is made once more, one certificate at a time, and compared.
func authorities(config *rest.Config, pool *x509.CertPool) ([]string, error) {
	if err := rest.LoadTLSFiles(config); err != nil {
		return nil, err
	}
	again := x509.NewCertPool()
	digests := []string{}
	for rest := config.CAData; len(rest) > 0; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if again.AppendCertsFromPEM(pem.EncodeToMemory(block)) {
			digests = append(digests, digest(block.Bytes))
		}
	}
	if !again.Equal(pool) {
		return nil, errors.New("the pool of authorities holds something else")
	}
	return digests, nil
}

func digest(der []byte) string {
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:])
}
