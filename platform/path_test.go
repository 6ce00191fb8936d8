package platform_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
)

// An address is the resource or the error that a path gives a caller.
type address struct {
	path string
	uid  core.UID
	code core.Code
}

func (a address) compare(t *testing.T, who string, uid core.UID, err error) {
	t.Helper()
	if a.code == 0 && (err != nil || uid != a.uid) || a.code != 0 && !errors.Is(err, &core.Error{Code: a.code}) {
		t.Errorf("%s at %q: got %s, %v, want %s, %v", who, a.path, uid, err, a.uid, a.code)
	}
}

func TestPathsLeadToGroupsAndRepos(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, other := w.found("acme"), w.found("other")
		shop := newNamed(w, acme.uid, "shop")
		tools := newNamed(w, shop, "tools")
		pay := newNamed(w, acme.uid, "pay")
		newNamed(w, other.uid, "shop")
		checkout, inShop := w.namedRepo(shop, "checkout"), w.namedRepo(shop, "tools/cli")
		inTools, inAcme := w.namedRepo(tools, "cli"), w.namedRepo(acme.uid, "shop/tools/cli")
		hidden := w.namedRepo(pay, "billing")
		const missing, denied, invalid = core.CodeNotFound, core.CodePermissionDenied, core.CodeInvalidArgument
		groups := func(who string, ctx context.Context, all ...address) {
			for _, a := range all {
				got, err := w.p.Groups.GetByPath(ctx, a.path)
				a.compare(t, who, uidOf(got, func(g *iam.Group) core.UID { return g.UID }), err)
			}
		}
		repos := func(who string, ctx context.Context, all ...address) {
			for _, a := range all {
				got, err := w.p.Repos.GetByPath(ctx, a.path)
				a.compare(t, who, uidOf(got, func(r *inventory.Repo) core.UID { return r.UID }), err)
			}
		}
		groups("the owner", acme.owner,
			address{"acme", acme.uid, 0}, address{"acme/shop", shop, 0}, address{"acme/shop/tools", tools, 0}, address{"acme/nothing", "", missing},
			address{"shop", "", missing}, address{"other/shop", "", missing}, address{"acme/shop/checkout", "", missing}, address{"Acme", "", missing},
			address{"", "", invalid}, address{"/acme", "", invalid}, address{"acme/", "", invalid}, address{"acme//shop", "", invalid}, address{"a\x00", "", invalid},
			address{strings.Repeat("a/", 160) + "a", "", invalid})
		repos("the owner", acme.owner,
			address{"acme/shop/checkout", checkout, 0}, address{"acme/pay/billing", hidden, 0}, address{"acme/shop/tools/cli", inTools, 0},
			address{"acme/shop/tools", "", missing}, address{"acme/shop/cli", "", missing}, address{"other/shop/checkout", "", missing}, address{"acme", "", invalid})
		shopper := w.memberWith(iam.ViewerRole, shop, acme.uid)
		groups("who sees a part", shopper, address{"acme/shop", "", missing}, address{"acme/shop/tools", "", missing}, address{"acme/pay", "", missing}, address{"acme/nothing", "", missing}, address{"acme", "", missing})
		repos("who sees a part", shopper, address{"acme/shop/checkout", "", missing}, address{"acme/pay/billing", "", missing}, address{"acme/pay/nothing", "", missing})
		must(t, w.p.Repos.Delete(acme.owner, inTools))
		repos("the owner, without the deepest", acme.owner, address{"acme/shop/tools/cli", inShop, 0})
		must(t, w.p.Repos.Delete(acme.owner, inShop))
		repos("the owner, with one left", acme.owner, address{"acme/shop/tools/cli", inAcme, 0})
		repos("who sees a part, with one left", shopper, address{"acme/shop/tools/cli", "", missing})
		lister := w.memberWith(w.role(acme.uid, core.CapRepoList), shop, acme.uid)
		groups("who sees no group", lister, address{"acme/shop", "", denied}, address{"acme/nothing", "", denied})
		repos("who sees no group", lister, address{"acme/shop/checkout", "", missing})
		walker := w.memberWith(w.role(acme.uid, core.CapGroupsList), acme.uid, acme.uid)
		groups("who sees groups only", walker, address{"acme", acme.uid, 0}, address{"acme/shop/tools", tools, 0})
		repos("who sees groups only", walker, address{"acme/shop/checkout", "", denied})
		repos("the operator", w.operator(), address{"acme/pay/billing", hidden, 0})
		groups("a stranger", w.as("a stranger"), address{"acme", "", denied}, address{"nothing", "", denied})
		groups("nobody", t.Context(), address{"acme", "", core.CodeUnauthenticated})
	})
}

func TestHiddenResourcesAreAnsweredLikeMissingOnes(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		shop := newNamed(w, acme.uid, "shop")
		newNamed(w, acme.uid, "payx")
		w.namedRepo(shop, "checkout")
		ctx := w.memberWith(iam.ViewerRole, shop, acme.uid)
		// The caller guesses the name of the organization, which is hidden from it.
		for name, get := range map[string]func(string) error{
			"payx":          func(path string) error { _, err := w.p.Groups.GetByPath(ctx, path); return err },
			"shop":          func(path string) error { _, err := w.p.Groups.GetByPath(ctx, path); return err },
			"shop/checkout": func(path string) error { _, err := w.p.Repos.GetByPath(ctx, path); return err },
		} {
			hidden, missing := get("acme/"+name), get("none/"+name)
			said := func(err error) string { return strings.ReplaceAll(core.AsError(err).Message, "acme", "none") }
			if said(hidden) != said(missing) || core.AsError(hidden).Resource.Name != "acme/"+name {
				t.Errorf("hidden: %v; missing: %v, want the same, with Name 'acme/%s'", hidden, missing, name)
			}
		}
	})
}

// newNamed creates a group with a name.
func newNamed(w *world, parent core.UID, name string) core.UID {
	w.Helper()
	made, err := w.p.Groups.Create(w.operator(), parent, body[*iam.Group](`{"name": %q}`, name))
	must(w, err)
	return made.UID
}

func uidOf[T any](row *T, uid func(*T) core.UID) core.UID {
	if row == nil {
		return ""
	}
	return uid(row)
}
