package sqlstore

import (
	"context"
	"errors"

	"atrium/platform"
	"atrium/store/sqlstore/dbconn"
)

// Images reads images by repo and digest.
func (s tables) Images(ctx context.Context, keys platform.ImageKeys) ([]*platform.Image, error) {
	wanted := keys.Keys()
	repos, digests := make([][]byte, len(wanted)), make([]string, len(wanted))
	for i, k := range wanted {
		repos[i], digests[i] = packUID(k.Repo), k.Digest
	}
	q := newStatement(s.dialect)
	q.add("SELECT DISTINCT m.repo, m.digest, m.architectures, m.packages FROM ")
	q.add(q.parents(uidPairs(repos, digests)...))
	// CROSS JOIN makes SQLite look up each image instead of reading all of them.
	q.add(" CROSS JOIN image m WHERE m.repo = p.k AND m.digest = p.inside")
	var images []*platform.Image
	err := s.reads.Run(ctx, q.build(func(scan func(...any) error) error {
		i := new(platform.Image)
		images = append(images, i)
		return scan(keyOf(&i.Repo), &i.Digest, jsonColumn{&i.Architectures}, jsonColumn{&i.Packages})
	}))
	return images, err
}

// PutImages inserts or replaces images.
func (tx *transaction) PutImages(ctx context.Context, images []*platform.Image) error {
	run := make([]*dbconn.Statement, len(images))
	for n, i := range images {
		q := newStatement(tx.dialect)
		q.add("INSERT INTO image (repo, digest, architectures, packages) VALUES (?, ?, ?, ?)",
			i.Repo, i.Digest, jsonColumn{&i.Architectures}.text(), jsonColumn{&i.Packages}.text())
		q.add(" ON CONFLICT (repo, digest) DO UPDATE SET architectures = excluded.architectures, packages = excluded.packages")
		run[n] = q.build(nil)
		tx.tasks = append(tx.tasks, platform.FindingTask{Subject: i.Repo, Digest: i.Digest})
	}
	err := tx.conn.Run(ctx, run...)
	if errors.Is(err, dbconn.ErrForeignKey) {
		return platform.ErrNoParent
	}
	return err
}
