package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"sigs.k8s.io/yaml"
)

// ownSettings are those that the chart sets itself, that belong into the Secret, or that no cluster should have.
var ownSettings = []string{
	"addr", "metrics-addr", "migrate", "tls-cert", "tls-key", "database-url", "database-direct-url", "read-database-url", "encryption-key", "new-encryption-key", "smtp-url", "dev", "config",
}

// checkSettingNames checks that the schema of the values knows every setting of the program, and no other.
func checkSettingNames(folder, program string) error {
	text, err := os.ReadFile(filepath.Join(folder, "values.schema.json"))
	if err != nil {
		return err
	}
	var schema struct {
		Properties struct {
			Settings struct {
				PropertyNames struct{ Enum []string }
			}
		}
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		return err
	}
	said, err := exec.Command(program, "admin", "config").Output()
	if err != nil {
		return err
	}
	var settings map[string]any
	if err := yaml.Unmarshal(said, &settings); err != nil {
		return err
	}
	maps.DeleteFunc(settings, func(name string, _ any) bool { return slices.Contains(ownSettings, name) })
	if want := slices.Sorted(maps.Keys(settings)); !slices.Equal(schema.Properties.Settings.PropertyNames.Enum, want) {
		return fmt.Errorf("values.schema.json must have these settings: %q", want)
	}
	return nil
}

// checkGracePeriod checks that a pod is not killed before it has drained.
func checkGracePeriod(settings string, grace *int64) error {
	var in struct {
		Delay   string `json:"drain-delay"`
		Timeout string `json:"drain-timeout"`
	}
	if err := yaml.Unmarshal([]byte(settings), &in); err != nil {
		return err
	}
	delay, err := time.ParseDuration(in.Delay)
	if err != nil {
		return err
	}
	timeout, err := time.ParseDuration(in.Timeout)
	if err != nil {
		return err
	}
	if least := delay + timeout + 5*time.Second; grace == nil || time.Duration(*grace)*time.Second < least {
		return fmt.Errorf("pods are killed before they have drained: terminationGracePeriodSeconds must be %.0f or more", least.Seconds())
	}
	return nil
}

// makeCertificate writes tls.crt and tls.key, as in a Secret of the cluster.
func makeCertificate(folder string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"atrium"}, NotAfter: time.Now().Add(time.Hour)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	for name, block := range map[string]*pem.Block{"tls.crt": {Type: "CERTIFICATE", Bytes: certificate}, "tls.key": {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(filepath.Join(folder, name), pem.EncodeToMemory(block), 0o600); err != nil {
			return err
		}
	}
	return nil
}
