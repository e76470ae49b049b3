// Reads a JSON array of texts, each with its kind, and writes what k8s.io/apimachinery makes of each. null: it is none.
package main

import (
	"bufio"
	"encoding/json"
	"log"
	"os"

	"gopkg.in/inf.v0"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

type question struct {
	Kind string       `json:"kind"`
	Text string       `json:"text"`
	Sets []labels.Set `json:"sets"`
}

// The billionths and the canonical text of a quantity.
type quantity struct {
	Nano string `json:"nano"`
	Text string `json:"text"`
}

// What a field selector demands of metadata.name.
type demand struct {
	Value *string `json:"value,omitempty"`
}

func main() {
	var questions []question
	if err := json.NewDecoder(bufio.NewReader(os.Stdin)).Decode(&questions); err != nil {
		log.Fatal(err)
	}
	answers := make([]any, len(questions))
	for at, asked := range questions {
		answers[at] = answerTo(asked)
	}
	if err := json.NewEncoder(os.Stdout).Encode(answers); err != nil {
		log.Fatal(err)
	}
}

func answerTo(asked question) any {
	switch asked.Kind {
	case "quantity":
		read, err := resource.ParseQuantity(asked.Text)
		if err != nil {
			return nil
		}
		nano := new(inf.Dec).Round(read.AsDec(), 9, inf.RoundExact)
		if nano == nil {
			log.Fatalf("%q is finer than a billionth", asked.Text)
		}
		// A quantity keeps the text that it was read from, until it is computed with.
		again := resource.MustParse(asked.Text)
		again.Neg()
		again.Neg()
		return quantity{nano.UnscaledBig().String(), again.String()}
	case "labels":
		selector, err := labels.Parse(asked.Text)
		if err != nil {
			return nil
		}
		matches := make([]bool, len(asked.Sets))
		for at, set := range asked.Sets {
			matches[at] = selector.Matches(set)
		}
		return matches
	case "fields":
		selector, err := fields.ParseSelector(asked.Text)
		if err != nil {
			return nil
		}
		if value, found := selector.RequiresExactMatch("metadata.name"); found {
			return demand{&value}
		}
		return demand{}
	}
	log.Fatalf("unknown kind %q", asked.Kind)
	return nil
}
