-- POSTGRES

-- a list
SELECT 0 + COALESCE((SELECT CAST(SUM(c.n) AS BIGINT) FROM counter c WHERE c.kind = 9 AND c.scope = ANY($1)), 0);
SELECT t.uid, t.sink, t.types, t.format, t.digest, t.secret, t.old_secret, t.old_secret_until, t.failing_since, t.disable_time, t.disable_reason, t.begin_event, t.conditions, t.findings, t.create_time, t.update_time
  FROM subscription t
  WHERE t.uid > $1
  AND t.uid < $2
  ORDER BY t.uid LIMIT $3;

-- lists of 2 parents
SELECT p.i, t.uid, t.sink, t.types, t.format, t.digest, t.secret, t.old_secret, t.old_secret_until, t.failing_since, t.disable_time, t.disable_reason, t.begin_event, t.conditions, t.findings, t.create_time, t.update_time
  FROM unnest($1::bytea[]) WITH ORDINALITY p(k, i)
  CROSS JOIN LATERAL (SELECT t.uid, t.sink, t.types, t.format, t.digest, t.secret, t.old_secret, t.old_secret_until, t.failing_since, t.disable_time, t.disable_reason, t.begin_event, t.conditions, t.findings, t.create_time, t.update_time FROM subscription t WHERE t.parent = p.k ORDER BY t.uid LIMIT $2 OFFSET $3) t;
SELECT p.i, COALESCE((SELECT CAST(SUM(c.nc) AS BIGINT) FROM counter c WHERE c.kind = 9 AND c.scope = p.inside), 0)
  FROM unnest($1::text[]) WITH ORDINALITY p(inside, i);

-- a list with a filter
SELECT 0 + (SELECT COUNT(*) FROM subscription t WHERE t.root = $1 AND t.sink = $2);
SELECT t.uid, t.sink, t.types, t.format, t.digest, t.secret, t.old_secret, t.old_secret_until, t.failing_since, t.disable_time, t.disable_reason, t.begin_event, t.conditions, t.findings, t.create_time, t.update_time
  FROM subscription t
  WHERE t.root = $1
  AND t.sink = $2
  ORDER BY t.uid LIMIT $3;

-- SQLITE

-- a list
SELECT 0 + COALESCE((SELECT CAST(SUM(c.n) AS BIGINT) FROM counter c WHERE c.kind = 9 AND c.scope IN (SELECT value FROM json_each(?1))), 0);
SELECT t.uid, t.sink, t.types, t.format, t.digest, t.secret, t.old_secret, t.old_secret_until, t.failing_since, t.disable_time, t.disable_reason, t.begin_event, t.conditions, t.findings, t.create_time, t.update_time
  FROM subscription t
  WHERE t.uid > ?1
  AND t.uid < ?2
  ORDER BY t.uid LIMIT ?3;

-- lists of 2 parents
SELECT p.i, t.uid, t.sink, t.types, t.format, t.digest, t.secret, t.old_secret, t.old_secret_until, t.failing_since, t.disable_time, t.disable_reason, t.begin_event, t.conditions, t.findings, t.create_time, t.update_time
  FROM (SELECT j.key + 1 AS i, unhex(j.value ->> 0) AS k FROM json_each(?1) j) p
  CROSS JOIN subscription t ON t.rowid IN (SELECT t.rowid FROM subscription t WHERE t.parent = p.k ORDER BY t.uid LIMIT ?2 OFFSET ?3);
SELECT p.i, COALESCE((SELECT CAST(SUM(c.nc) AS BIGINT) FROM counter c WHERE c.kind = 9 AND c.scope = p.inside), 0)
  FROM (SELECT j.key + 1 AS i, j.value ->> 0 AS inside FROM json_each(?1) j) p;

-- a list with a filter
SELECT 0 + (SELECT COUNT(*) FROM subscription t WHERE t.root = ?1 AND t.sink = ?2);
SELECT t.uid, t.sink, t.types, t.format, t.digest, t.secret, t.old_secret, t.old_secret_until, t.failing_since, t.disable_time, t.disable_reason, t.begin_event, t.conditions, t.findings, t.create_time, t.update_time
  FROM subscription t
  WHERE t.root = ?1
  AND t.sink = ?2
  ORDER BY t.uid LIMIT ?3;

