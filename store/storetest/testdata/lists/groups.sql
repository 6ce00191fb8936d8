-- POSTGRES

-- a list
SELECT 0 + COALESCE((SELECT CAST(SUM(c.n) AS BIGINT) FROM counter c WHERE c.kind = 1 AND c.scope = ANY($1)), 0);
SELECT t.uid, t.name, t.description, t.resource_limits, t.verified, t.kind, t.status, t.create_time, t.labels, t.update_time
  FROM grp t
  WHERE t.root = $1
  AND t.uid <> $2
  ORDER BY t.name, t.uid LIMIT $3;

-- lists of 2 parents
SELECT p.i, t.uid, t.name, t.description, t.resource_limits, t.verified, t.kind, t.status, t.create_time, t.labels, t.update_time
  FROM unnest($1::bytea[]) WITH ORDINALITY p(k, i)
  CROSS JOIN LATERAL (SELECT t.uid, t.name, t.description, t.resource_limits, t.verified, t.kind, t.status, t.create_time, t.labels, t.update_time FROM grp t WHERE t.parent = p.k ORDER BY t.name LIMIT $2 OFFSET $3) t;
SELECT p.i, COALESCE((SELECT CAST(SUM(c.nc) AS BIGINT) FROM counter c WHERE c.kind = 1 AND c.scope = p.inside), 0)
  FROM unnest($1::text[]) WITH ORDINALITY p(inside, i);

-- a list with a filter
SELECT 0 + (SELECT COUNT(*) FROM grp t WHERE t.root = $1 AND t.uid <> $2 AND t.root = $3 AND t.search LIKE $4 ESCAPE '\' AND t.update_time >= $5);
SELECT t.uid, t.name, t.description, t.resource_limits, t.verified, t.kind, t.status, t.create_time, t.labels, t.update_time
  FROM grp t
  WHERE t.root = $1
  AND t.uid <> $2
  AND t.root = $3
  AND t.search LIKE $4 ESCAPE '\'
  AND t.update_time >= $5
  ORDER BY COALESCE(t.name, t.name), t.uid LIMIT $6;

-- SQLITE

-- a list
SELECT 0 + COALESCE((SELECT CAST(SUM(c.n) AS BIGINT) FROM counter c WHERE c.kind = 1 AND c.scope IN (SELECT value FROM json_each(?1))), 0);
SELECT t.uid, t.name, t.description, t.resource_limits, t.verified, t.kind, t.status, t.create_time, t.labels, t.update_time
  FROM grp t
  WHERE t.root = ?1
  AND t.uid <> ?2
  ORDER BY t.name, t.uid LIMIT ?3;

-- lists of 2 parents
SELECT p.i, t.uid, t.name, t.description, t.resource_limits, t.verified, t.kind, t.status, t.create_time, t.labels, t.update_time
  FROM (SELECT j.key + 1 AS i, unhex(j.value ->> 0) AS k FROM json_each(?1) j) p
  CROSS JOIN grp t ON t.rowid IN (SELECT t.rowid FROM grp t WHERE t.parent = p.k ORDER BY t.name LIMIT ?2 OFFSET ?3);
SELECT p.i, COALESCE((SELECT CAST(SUM(c.nc) AS BIGINT) FROM counter c WHERE c.kind = 1 AND c.scope = p.inside), 0)
  FROM (SELECT j.key + 1 AS i, j.value ->> 0 AS inside FROM json_each(?1) j) p;

-- a list with a filter
SELECT 0 + (SELECT COUNT(*) FROM (SELECT e.uid FROM search_index x CROSS JOIN search_entry e ON e.id = x.rowid WHERE x.search_index MATCH ?1) f CROSS JOIN grp t ON t.uid = f.uid WHERE t.root = ?2 AND t.uid <> ?3 AND t.root = ?4 AND t.search LIKE ?5 ESCAPE '\' AND t.update_time >= ?6);
SELECT t.uid, t.name, t.description, t.resource_limits, t.verified, t.kind, t.status, t.create_time, t.labels, t.update_time
  FROM (SELECT e.uid FROM search_index x CROSS JOIN search_entry e ON e.id = x.rowid WHERE x.search_index MATCH ?1) f
  CROSS JOIN grp t ON t.uid = f.uid
  WHERE t.root = ?2
  AND t.uid <> ?3
  AND t.root = ?4
  AND t.search LIKE ?5 ESCAPE '\'
  AND t.update_time >= ?6
  ORDER BY COALESCE(t.name, t.name), t.uid LIMIT ?7;

