package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A component is one module in the form of CycloneDX 1.6.
type component struct {
	Type       string              `json:"type"`
	Ref        string              `json:"bom-ref"`
	Name       string              `json:"name"`
	Version    string              `json:"version"`
	PURL       string              `json:"purl,omitempty"`
	Hashes     []map[string]string `json:"hashes,omitempty"`
	Properties []map[string]string `json:"properties,omitempty"`
}

// listContents lists the modules of a program. Go writes them into the program.
func listContents(program, path string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	body, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(body)
	self := component{Type: "application", Ref: info.Main.Path, Name: filepath.Base(info.Path), Version: info.Main.Version,
		Hashes: []map[string]string{{"alg": "SHA-256", "content": hex.EncodeToString(sum[:])}}}
	components := []component{{Type: "library", Ref: "std", Name: "std", Version: strings.TrimPrefix(info.GoVersion, "go"), PURL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go")}}
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		purl := fmt.Sprintf("pkg:golang/%s@%s", module.Path, module.Version)
		c := component{Type: "library", Ref: purl, Name: module.Path, Version: module.Version, PURL: purl}
		if digest, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(module.Sum, "h1:")); err == nil && len(digest) == sha256.Size {
			// This is the hash of the list of files in the module, as in go.sum, and not of a file.
			c.Properties = []map[string]string{{"name": "cdx:go:go.sum", "value": module.Sum}}
		}
		components = append(components, c)
	}
	refs := make([]string, len(components))
	for i, c := range components {
		refs[i] = c.Ref
	}
	text, err := json.MarshalIndent(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata":     map[string]any{"component": self},
		"components":   components,
		"dependencies": []map[string]any{{"ref": self.Ref, "dependsOn": refs}},
	}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
