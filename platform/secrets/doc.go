// Package secrets encrypts the secrets of resources, and has the keys that replicas share. It imports core.
//
// Begin with Secrets.EncryptSecret, with Secrets.EnsureKeys, and with ChangeEncryptionKey.
//
//	keys.go               the keys that replicas share: of page tokens, of webhooks, for development
//	encryption.go         the encryption of what the store keeps
//	encryption_change.go  changes its key
package secrets
