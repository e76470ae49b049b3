// Reads an array of texts and writes what Go's time.ParseDuration makes of each: nanoseconds as a text, or null for an error.
package main

import (
	"encoding/json"
	"log"
	"os"
	"strconv"
	"time"
)

func main() {
	var texts []string
	if err := json.NewDecoder(os.Stdin).Decode(&texts); err != nil {
		log.Fatal(err)
	}
	read := make([]*string, len(texts))
	for at, text := range texts {
		if duration, err := time.ParseDuration(text); err == nil {
			nanoseconds := strconv.FormatInt(int64(duration), 10)
			read[at] = &nanoseconds
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(read); err != nil {
		log.Fatal(err)
	}
}
