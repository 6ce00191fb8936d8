package resolvers

import "testing"

func BenchmarkReposTagsImages(b *testing.B) {
	w := newWorld(b)
	w.addRegistry(w.org, 50, 12)
	for b.Loop() {
		w.ask(`{ repos { nodes { name tags(first: 10) { nodes { name image { digest size } } } } } }`)
	}
}

func BenchmarkOnePage(b *testing.B) {
	w := newWorld(b)
	w.addRegistry(w.org, 50, 1)
	for b.Loop() {
		w.ask(`{ repos(first: 50) { edges { cursor node { uid name description updateTime } } pageInfo { endCursor } } }`)
	}
}
