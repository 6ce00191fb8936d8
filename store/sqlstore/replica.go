package sqlstore

import "context"

// Heartbeat increments the heartbeat count of a replica and reads those of all.
func (s *Store) Heartbeat(ctx context.Context, replica string) (map[string]int64, error) {
	var beats map[string]int64
	err := s.engine.Write(ctx, func(conn TxConn) error {
		beats = map[string]int64{}
		beat := s.dialect.statement().add("INSERT INTO replica (id, beats) VALUES (?, 1) ON CONFLICT (id) DO UPDATE SET beats = replica.beats + 1", replica)
		all := s.dialect.statement().add("SELECT r.id, r.beats FROM replica r")
		return conn.Run(ctx, beat.build(nil), all.build(func(scan func(...any) error) error {
			var id string
			var n int64
			err := scan(&id, &n)
			beats[id] = n
			return err
		}))
	})
	return beats, err
}

// RemoveReplicas deletes replicas.
func (s *Store) RemoveReplicas(ctx context.Context, ids []string) error {
	return s.engine.Write(ctx, func(conn TxConn) error {
		return conn.Run(ctx, s.dialect.statement().add("DELETE FROM replica WHERE id ?", keyList(ids)).build(nil))
	})
}
