// Reads a JSON array of environments, each with the address of a server, and writes for each the proxy by which a Go
// program would reach it, or nothing.
package main

import (
	"encoding/json"
	"log"
	"net/url"
	"os"

	"golang.org/x/net/http/httpproxy"
)

type situation struct {
	Environment map[string]string `json:"environment"`
	Server      string            `json:"server"`
}

func main() {
	var situations []situation
	if err := json.NewDecoder(os.Stdin).Decode(&situations); err != nil {
		log.Fatal(err)
	}
	proxies := make([]string, 0, len(situations))
	for _, one := range situations {
		proxies = append(proxies, proxy(one))
	}
	if err := json.NewEncoder(os.Stdout).Encode(proxies); err != nil {
		log.Fatal(err)
	}
}

func proxy(one situation) string {
	os.Clearenv()
	for name, value := range one.Environment {
		if err := os.Setenv(name, value); err != nil {
			log.Fatal(err)
		}
	}
	server, err := url.Parse(one.Server)
	if err != nil {
		log.Fatal(err)
	}
	found, err := httpproxy.FromEnvironment().ProxyFunc()(server)
	if err != nil {
		return "error: " + err.Error()
	}
	if found == nil {
		return ""
	}
	return found.String()
}
