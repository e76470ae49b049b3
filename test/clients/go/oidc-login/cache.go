package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// tokenSet is what is kept between two runs.
type tokenSet struct {
	IDToken      string `json:"id_token"`
	RefreshToken string `json:"refresh_token"`
}

// end is the claim exp. The token was verified when it came.
func (t *tokenSet) end() time.Time {
	var claims struct {
		Exp int64 `json:"exp"`
	}
	if parts := strings.Split(t.IDToken, "."); len(parts) == 3 {
		if body, err := base64.RawURLEncoding.DecodeString(parts[1]); err == nil {
			_ = json.Unmarshal(body, &claims)
		}
	}
	return time.Unix(claims.Exp, 0)
}

func (t *tokenSet) isValid(now time.Time) bool {
	return t != nil && now.Before(t.end())
}

// cache is a file for each issuer, client and list of scopes.
type cache struct {
	file string
}

func cacheOf(o options) cache {
	key := sha256.Sum256([]byte(strings.Join([]string{o.issuer, o.clientID, o.extraScopes.String()}, "\n")))
	return cache{filepath.Join(o.cacheDir, hex.EncodeToString(key[:]))}
}

// read returns nil when there is nothing.
func (c cache) read() *tokenSet {
	text, err := os.ReadFile(c.file)
	if err != nil {
		return nil
	}
	var tokens tokenSet
	if json.Unmarshal(text, &tokens) != nil {
		return nil
	}
	return &tokens
}

func (c cache) write(tokens *tokenSet) error {
	text, err := json.Marshal(tokens)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(c.file), 0o700); err != nil {
		return err
	}
	return os.WriteFile(c.file, text, 0o600)
}
