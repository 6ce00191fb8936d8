package sbom

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
)

// maxEnvelopes limits the envelopes around a document: a bundle of Sigstore, a DSSE envelope and a statement.
const maxEnvelopes = 3

// payloadType is the media type of in-toto statements in a DSSE envelope.
const payloadType = "application/vnd.in-toto+json"

// parseEnvelope opens a DSSE envelope. It does not verify signatures.
func parseEnvelope(text []byte, media string, depth int) (*Document, error) {
	if media != payloadType {
		return nil, invalid("payloadType", "is %q, want %q", media, payloadType)
	}
	var envelope struct {
		Payload string `json:"payload"`
	}
	if err := json.Unmarshal(text, &envelope); err != nil {
		return nil, invalid("payload", "%v", err)
	}
	payload, err := base64.StdEncoding.DecodeString(envelope.Payload)
	if err != nil {
		return nil, invalid("payload", "is not base64: %v", err)
	}
	if err := CheckShape(payload); err != nil {
		return nil, err
	}
	return parse(payload, depth-1)
}

// parseStatement reads the predicate of an in-toto statement, and its subjects.
func parseStatement(text []byte, predicateType string, depth int) (*Document, error) {
	if !IsSBOM(predicateType) {
		return nil, invalid(otherPredicate, "is %q, which is not an SBOM", predicateType)
	}
	var statement struct {
		Subject []struct {
			Name   string            `json:"name"`
			Digest map[string]string `json:"digest"`
		} `json:"subject"`
		Predicate json.RawMessage `json:"predicate"`
	}
	if err := json.Unmarshal(text, &statement); err != nil {
		return nil, invalid("subject", "%v", err)
	}
	if len(statement.Predicate) == 0 {
		return nil, invalid("predicate", "is missing")
	}
	predicate := unwrapPredicate(statement.Predicate)
	d, err := parse(predicate, depth-1)
	if err != nil {
		return nil, err
	}
	// The subject of a signed statement counts more than what the document says of itself.
	var digests []string
	for _, s := range statement.Subject {
		if hex := s.Digest["sha256"]; hex != "" {
			digests = append(digests, "sha256:"+strings.ToLower(hex))
		}
		if d.Subject.Name == "" {
			d.Subject.Name = s.Name
		}
	}
	if len(digests) > 0 {
		d.Subject.Digests = digests
	}
	return d, nil
}

// otherPredicate is the place in a statement that says that it is about something else.
const otherPredicate = "predicateType"

// IsOtherStatement reports whether an error says that a document is a valid statement about something else.
func IsOtherStatement(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Place == otherPredicate
}

// IsSBOM reports whether a predicate is an SBOM.
func IsSBOM(predicateType string) bool {
	return strings.HasPrefix(predicateType, "https://spdx.dev/Document") || strings.HasPrefix(predicateType, "https://cyclonedx.org/bom") ||
		strings.HasPrefix(predicateType, "https://cyclonedx.org/schema")
}

// unwrapPredicate returns the document of a predicate. Older versions of cosign put it into
// a member Data, as an object or as text.
func unwrapPredicate(predicate json.RawMessage) []byte {
	var wrapped struct {
		Data json.RawMessage `json:"Data"`
	}
	if json.Unmarshal(predicate, &wrapped) != nil || len(wrapped.Data) == 0 {
		return predicate
	}
	var text string
	if json.Unmarshal(wrapped.Data, &text) == nil {
		return []byte(text)
	}
	return wrapped.Data
}
