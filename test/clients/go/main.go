// go-clients does the steps that the standard input names with a Go client that nobody here wrote, and prints a line of JSON for
// each, as test/clients/README.md says. The first argument names the client.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"sync"
)

// told is what the variable CLIENT says.
type told struct {
	URL          string `json:"url"`
	Issuer       string `json:"issuer"`
	Nodes        string `json:"nodes"`
	Username     string `json:"username"`
	Password     string `json:"password"`
	ClientID     string `json:"clientId"`
	ClientSecret string `json:"clientSecret"`
}

type asked struct {
	Step  string `json:"step"`
	Token string `json:"token"`
}

// said is a line of the answer. Without Ok it is what a watch saw.
type said struct {
	Step    string   `json:"step"`
	Ok      *bool    `json:"ok,omitempty"`
	Error   string   `json:"error,omitempty"`
	Token   string   `json:"token,omitempty"`
	Subject string   `json:"subject,omitempty"`
	Nodes   []string `json:"nodes,omitempty"`
	Type    string   `json:"type,omitempty"`
	Node    string   `json:"node,omitempty"`
}

var (
	output  = json.NewEncoder(os.Stdout)
	writing sync.Mutex
)

// say prints a line. The watches print from goroutines of their own.
func say(line said) {
	writing.Lock()
	defer writing.Unlock()
	if err := output.Encode(line); err != nil {
		log.Fatal(err)
	}
}

func sayEnd(line said, err error) {
	ok := err == nil
	line.Ok = &ok
	if err != nil {
		line.Error = err.Error()
	}
	say(line)
}

func tell(kind, node string) {
	say(said{Step: "watch", Type: kind, Node: node})
}

// nodeReader is what lists and watches.
type nodeReader struct {
	list func(context.Context) ([]string, error)
	// watch tells each event, for ever. It returns when it cannot go on.
	watch func(context.Context) error
}

func readerOf(name string, told told, session *session) (nodeReader, error) {
	switch name {
	case "oauth2":
		lines := &lineReader{told: told, session: session}
		return nodeReader{lines.list, lines.watch}, nil
	case "typed":
		nodes, err := newClusterNodes(told, session)
		return nodeReader{nodes.list, nodes.watch}, err
	case "informer":
		nodes, err := newClusterNodes(told, session)
		return nodeReader{nodes.list, informing(nodes.listWatch())}, err
	case "live-list":
		list, err := newLiveList(told, session)
		return nodeReader{list.names, informing(list.listWatch())}, err
	}
	return nodeReader{}, fmt.Errorf("there is no client %q", name)
}

func main() {
	var told told
	if err := json.Unmarshal([]byte(os.Getenv("CLIENT")), &told); err != nil {
		log.Fatal(err)
	}
	session := newSession(told)
	reader, err := readerOf(os.Args[1], told, session)
	if err != nil {
		log.Fatal(err)
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var asked asked
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			log.Fatal(err)
		}
		take(asked, session, reader)
	}
}

func take(asked asked, session *session, reader nodeReader) {
	ctx := context.Background()
	line := said{Step: asked.Step}
	var err error
	switch asked.Step {
	case "sign-in":
		line.Token, err = session.signIn()
	case "verify":
		line.Subject, err = session.verify(ctx, asked.Token)
	case "list":
		line.Nodes, err = reader.list(ctx)
	case "refresh":
		// The client is asked for nodes as ever: what has ended it replaces by itself.
		if line.Nodes, err = reader.list(ctx); err == nil {
			line.Token, err = session.current()
		}
	case "watch":
		go func() { sayEnd(line, reader.watch(ctx)) }()
		return
	default:
		err = fmt.Errorf("there is no step %q", asked.Step)
	}
	sayEnd(line, err)
}
