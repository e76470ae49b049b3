// Reads a JSON array of request lines ([method, target], targets in base64 because they are bytes) and writes, for each, what
// kube-apiserver makes of it: the request info of k8s.io/apiserver, and whether it counts as long-running. null: it is no
// request for net/http, or the request info cannot be made.
package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"flag"
	"log"
	"net/http"
	"os"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/server/filters"
	"k8s.io/klog/v2"
)

// As pkg/controlplane/apiserver/config.go and pkg/server/config.go of Kubernetes set them.
var (
	factory = request.RequestInfoFactory{
		APIPrefixes:          sets.NewString("api", "apis"),
		GrouplessAPIPrefixes: sets.NewString("api"),
	}
	isLongRunning = filters.BasicLongRunningRequestCheck(
		sets.NewString("watch", "proxy"),
		sets.NewString("attach", "exec", "proxy", "log", "portforward"),
	)
)

type answer struct {
	IsResource    bool   `json:"isResource"`
	Verb          string `json:"verb"`
	Prefix        string `json:"prefix"`
	Group         string `json:"group"`
	Version       string `json:"version"`
	Namespace     string `json:"namespace"`
	Resource      string `json:"resource"`
	Subresource   string `json:"subresource"`
	Name          string `json:"name"`
	FieldSelector string `json:"fieldSelector"`
	LabelSelector string `json:"labelSelector"`
	IsLongRunning bool   `json:"isLongRunning"`
}

func main() {
	quiet := flag.NewFlagSet("klog", flag.ExitOnError)
	klog.InitFlags(quiet)
	_ = quiet.Set("logtostderr", "false")
	klog.SetOutput(bytes.NewBuffer(nil))
	var lines [][2]string
	if err := json.NewDecoder(bufio.NewReader(os.Stdin)).Decode(&lines); err != nil {
		log.Fatal(err)
	}
	answers := make([]*answer, len(lines))
	for at, line := range lines {
		answers[at] = ask(line[0], line[1])
	}
	if err := json.NewEncoder(os.Stdout).Encode(answers); err != nil {
		log.Fatal(err)
	}
}

func ask(method, encoded string) *answer {
	target, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		log.Fatal(err)
	}
	head := method + " " + string(target) + " HTTP/1.1\r\nHost: host\r\n\r\n"
	asked, err := http.ReadRequest(bufio.NewReader(bytes.NewReader([]byte(head))))
	if err != nil {
		return nil
	}
	info, err := factory.NewRequestInfo(asked)
	if err != nil {
		return nil
	}
	return &answer{
		info.IsResourceRequest, info.Verb, info.APIPrefix, info.APIGroup, info.APIVersion, info.Namespace,
		info.Resource, info.Subresource, info.Name, info.FieldSelector, info.LabelSelector,
		isLongRunning(asked, info),
	}
}
