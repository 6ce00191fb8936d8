package events

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

var errSecret = errors.New("a secret is not whsec_ and base64, or there is none")

// sign sets the headers of Standard Webhooks: a signature by each secret.
func sign(header http.Header, id string, at time.Time, data []byte, secrets []string) error {
	if len(secrets) == 0 {
		return errSecret
	}
	timestamp := strconv.FormatInt(at.Unix(), 10)
	signatures := make([]string, len(secrets))
	for i, secret := range secrets {
		encoded, prefixed := strings.CutPrefix(secret, "whsec_")
		key, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil || !prefixed || len(key) == 0 {
			return errSecret // which must not be shown
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + timestamp + "."))
		mac.Write(data)
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	header.Set("webhook-id", id)
	header.Set("webhook-timestamp", timestamp)
	header.Set("webhook-signature", strings.Join(signatures, " "))
	return nil
}
