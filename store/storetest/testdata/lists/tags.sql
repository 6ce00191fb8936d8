-- POSTGRES

-- a list
SELECT 0 + COALESCE((SELECT CAST(SUM(c.n) AS BIGINT) FROM counter c WHERE c.kind = 6 AND c.scope = ANY($1)), 0);
SELECT t.uid, t.name, t.digest, t.deprecated, t.bundles, t.class, t.create_time, t.update_time, t.open_severity
  FROM tag t
  WHERE t.root_key = $1
  ORDER BY t.name, t.rest LIMIT $2;

-- lists of 2 parents
SELECT p.i, t.uid, t.name, t.digest, t.deprecated, t.bundles, t.class, t.create_time, t.update_time, t.open_severity
  FROM unnest($1::bytea[]) WITH ORDINALITY p(k, i)
  CROSS JOIN LATERAL (SELECT t.uid, t.rest, t.local, t.name, t.digest, t.deprecated, t.bundles, t.class, t.create_time, t.update_time, t.open_severity FROM tag t WHERE t.parent = p.k ORDER BY t.name LIMIT $2 OFFSET $3) t;
SELECT p.i, COALESCE((SELECT CAST(SUM(c.nc) AS BIGINT) FROM counter c WHERE c.kind = 6 AND c.scope = p.inside), 0)
  FROM unnest($1::text[]) WITH ORDINALITY p(inside, i);

-- a list with a filter
SELECT 0 + (SELECT COUNT(*) FROM tag t WHERE t.root_key = $1 AND t.digest = $2 AND substr(t.digest, 8, 6) = substr($3, 8, 6));
SELECT t.uid, t.name, t.digest, t.deprecated, t.bundles, t.class, t.create_time, t.update_time, t.open_severity
  FROM tag t
  WHERE t.root_key = $1
  AND t.digest = $2
  AND substr(t.digest, 8, 6) = substr($3, 8, 6)
  ORDER BY t.name, t.rest LIMIT $4;

-- SQLITE

-- a list
SELECT 0 + COALESCE((SELECT CAST(SUM(c.n) AS BIGINT) FROM counter c WHERE c.kind = 6 AND c.scope IN (SELECT value FROM json_each(?1))), 0);
SELECT t.uid, t.name, t.digest, t.deprecated, t.bundles, t.class, t.create_time, t.update_time, t.open_severity
  FROM tag t
  WHERE t.root_key = ?1
  ORDER BY t.name, t.rest LIMIT ?2;

-- lists of 2 parents
SELECT p.i, t.uid, t.name, t.digest, t.deprecated, t.bundles, t.class, t.create_time, t.update_time, t.open_severity
  FROM (SELECT j.key + 1 AS i, unhex(j.value ->> 0) AS k FROM json_each(?1) j) p
  CROSS JOIN tag t ON t.rowid IN (SELECT t.rowid FROM tag t WHERE t.parent = p.k ORDER BY t.name LIMIT ?2 OFFSET ?3);
SELECT p.i, COALESCE((SELECT CAST(SUM(c.nc) AS BIGINT) FROM counter c WHERE c.kind = 6 AND c.scope = p.inside), 0)
  FROM (SELECT j.key + 1 AS i, j.value ->> 0 AS inside FROM json_each(?1) j) p;

-- a list with a filter
SELECT 0 + (SELECT COUNT(*) FROM tag t WHERE t.root_key = ?1 AND t.digest = ?2 AND substr(t.digest, 8, 6) = substr(?3, 8, 6));
SELECT t.uid, t.name, t.digest, t.deprecated, t.bundles, t.class, t.create_time, t.update_time, t.open_severity
  FROM tag t
  WHERE t.root_key = ?1
  AND t.digest = ?2
  AND substr(t.digest, 8, 6) = substr(?3, 8, 6)
  ORDER BY t.name, t.rest LIMIT ?4;

