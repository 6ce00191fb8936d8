package webhook

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

var errSecret = errors.New("the subscription has no secret, or one that is not whsec_ followed by base64")

// setSignatureHeaders sets the headers of Standard Webhooks, with one signature
// for each secret.
func setSignatureHeaders(header http.Header, id string, at time.Time, data []byte, secrets []string) error {
	if len(secrets) == 0 {
		return errSecret
	}
	timestamp := strconv.FormatInt(at.Unix(), 10)
	signatures := make([]string, len(secrets))
	for i, secret := range secrets {
		encoded, prefixed := strings.CutPrefix(secret, "whsec_")
		key, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil || !prefixed || len(key) == 0 {
			return errSecret // the error of the decoder would quote the secret
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
