package export

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"atrium/internal/vex"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/inventory"
)

// VEXOptions say which decisions are written, and how.
type VEXOptions struct {
	Scope  core.UID // group or repo
	Digest string   // only those about this image of the repo; "" means all
	Format string   // openvex or cyclonedx
	Author string   // who makes the statements, in OpenVEX
}

// VEX writes what was decided about findings as a document.
func VEX(ctx context.Context, p *platform.Platform, to io.Writer, o VEXOptions) error {
	decided, err := p.Findings.Decisions(ctx, o.Scope, o.Digest)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(to)
	all, id, now := statements(decided), newURN(), time.Now().UTC().Truncate(time.Second)
	if o.Format == "cyclonedx" {
		err = vex.WriteCycloneDX(out, id, now, all)
	} else {
		err = vex.WriteOpenVEX(out, o.Author, id, now, all)
	}
	return errors.Join(err, out.Flush())
}

// newURN returns a random UUID (version 4 of RFC 9562) as the name of a document.
func newURN() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// statements returns what was decided: the rules, those that count less first, and then single findings.
func statements(d *inventory.Decisions) (all []vex.Statement) {
	for _, r := range d.Rules {
		all = append(all, vex.Statement{
			Vulnerability: r.VulnerabilityID, Target: vex.Target{
				Digest: r.Digest, Image: r.Image, Product: vex.Package{Name: r.Product.Package, Ecosystem: r.Product.Ecosystem, Version: r.Product.Version},
				Package: vex.Package{Name: r.Package, Ecosystem: r.Ecosystem, Version: r.Version},
			},
			State: stateName(r.State), Justification: r.Justification, Note: r.Note, Time: r.CreateTime.Time, ExpireTime: r.ExpireTime.Time,
		})
	}
	for _, f := range d.Findings {
		s := vex.Statement{
			Vulnerability: f.VulnerabilityID, Target: vex.Target{Digest: f.Digest, Package: vex.Package{Name: f.Package, Ecosystem: f.Ecosystem, Version: f.InstalledVersion}},
			State: stateName(f.State), Justification: f.Justification, Note: f.Note, Time: f.UpdateTime.Time, ExpireTime: f.ExpireTime.Time,
		}
		if f.Package == f.Digest { // the advisory is about the image
			s.Target.Name = ""
		}
		all = append(all, s)
	}
	return all
}

func stateName(s inventory.FindingState) string {
	return strings.TrimPrefix(string(s), "FINDING_STATE_")
}
