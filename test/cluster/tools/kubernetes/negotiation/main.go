// Reads a JSON array of requests (the lines of Accept and of Accept-Encoding) and writes, for each, what Kubernetes makes of
// them: k8s.io/apiserver, and go-restful, on which KubeSphere 3.4 stands.
package main

import (
	"bufio"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/emicklei/go-restful/v3"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/handlers/negotiation"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
)

type question struct {
	Accept         []string `json:"accept"`
	AcceptEncoding []string `json:"acceptEncoding"`
}

// The answers of both to one question.
type pair struct {
	Apiserver any `json:"apiserver"`
	Restful   any `json:"restful"`
}

type answer struct {
	// Whether a list in JSON, with no other form, is acceptable.
	List pair `json:"list"`
	// The form of a stream by apiserver, with server-sent events as a second form; "": none. go-restful has no streams.
	Stream string `json:"stream"`
	// Whether a long answer is compressed by gzip.
	Gzip pair `json:"gzip"`
}

// What is offered: whole objects, and of a stream also their metadata alone.
type offer struct{ metadata bool }

func (o offer) AllowsMediaTypeTransform(_, _ string, target *schema.GroupVersionKind) bool {
	return target == nil || o.metadata && *target == schema.GroupVersionKind{Group: "meta.k8s.io", Version: "v1", Kind: "PartialObjectMetadata"}
}
func (offer) AllowsServerVersion(version string) bool { return version == "v1" }
func (offer) AllowsStreamSchema(schema string) bool   { return schema == "watch" }

func form(kind, subtype string) runtime.SerializerInfo {
	return runtime.SerializerInfo{
		MediaType: kind + "/" + subtype, MediaTypeType: kind, MediaTypeSubType: subtype,
		StreamSerializer: &runtime.StreamSerializerInfo{},
	}
}

var (
	listForms   = []runtime.SerializerInfo{form("application", "json")}
	streamForms = []runtime.SerializerInfo{form("application", "json"), form("text", "event-stream")}
)

func main() {
	var questions []question
	if err := json.NewDecoder(bufio.NewReader(os.Stdin)).Decode(&questions); err != nil {
		log.Fatal(err)
	}
	served := container()
	answers := make([]answer, len(questions))
	for at, asked := range questions {
		answers[at] = answerTo(read(asked), served)
	}
	if err := json.NewEncoder(os.Stdout).Encode(answers); err != nil {
		log.Fatal(err)
	}
}

// Reads the lines as net/http does.
func read(asked question) *http.Request {
	head := "GET /list HTTP/1.1\r\nHost: host\r\n"
	for _, line := range asked.Accept {
		head += "Accept: " + line + "\r\n"
	}
	for _, line := range asked.AcceptEncoding {
		head += "Accept-Encoding: " + line + "\r\n"
	}
	request, err := http.ReadRequest(bufio.NewReader(strings.NewReader(head + "\r\n")))
	if err != nil {
		log.Fatal(err)
	}
	return request
}

func container() *restful.Container {
	service := new(restful.WebService).Path("/list").Produces(restful.MIME_JSON)
	service.Route(service.GET("").To(func(_ *restful.Request, response *restful.Response) {
		_ = response.WriteEntity(struct{}{})
	}))
	built := restful.NewContainer()
	built.EnableContentEncoding(true)
	return built.Add(service)
}

func answerTo(request *http.Request, served *restful.Container) answer {
	accept := request.Header.Get("Accept")
	_, listed := negotiation.NegotiateMediaTypeOptions(accept, listForms, offer{})
	chosen, streamed := negotiation.NegotiateMediaTypeOptions(accept, streamForms, offer{metadata: true})
	stream := ""
	if streamed {
		stream = chosen.Accepted.MediaTypeSubType
		if chosen.Convert != nil {
			stream += ", metadata"
		}
	}
	whole := httptest.NewRecorder()
	responsewriters.SerializeObject("application/json", long{}, whole, request, http.StatusOK, nil)
	whether := httptest.NewRecorder()
	served.Dispatch(whether, request)
	// A refusal is not compressed: the coding is asked for without Accept.
	request.Header.Del("Accept")
	compressed := httptest.NewRecorder()
	served.Dispatch(compressed, request)
	return answer{
		List:   pair{listed, whether.Code == http.StatusOK},
		Stream: stream,
		Gzip:   pair{isGzip(whole), isGzip(compressed)},
	}
}

func isGzip(recorder *httptest.ResponseRecorder) bool {
	return recorder.Header().Get("Content-Encoding") == "gzip"
}

// apiserver compresses from 128 KiB on.
var longText = make([]byte, 128*1024+1)

type long struct{}

func (long) Encode(_ runtime.Object, w io.Writer) error {
	_, err := w.Write(longText)
	return err
}
func (long) Identifier() runtime.Identifier { return "long" }
