-- POSTGRES

-- a list
SELECT 0 + COALESCE((SELECT CAST(SUM(c.n) AS BIGINT) FROM counter c WHERE c.kind = 13 AND c.scope = ANY($1)), 0);
SELECT t.uid, t.external_group_id, t.role, t.scope, t.create_time
  FROM external_group_role_mapping t
  WHERE t.uid > $1
  AND t.uid < $2
  ORDER BY t.uid LIMIT $3;

-- lists of 2 parents
SELECT p.i, t.uid, t.external_group_id, t.role, t.scope, t.create_time
  FROM unnest($1::bytea[]) WITH ORDINALITY p(k, i)
  CROSS JOIN LATERAL (SELECT t.uid, t.external_group_id, t.role, t.scope, t.create_time FROM external_group_role_mapping t WHERE t.parent = p.k ORDER BY t.uid LIMIT $2 OFFSET $3) t;
SELECT p.i, COALESCE((SELECT CAST(SUM(c.nc) AS BIGINT) FROM counter c WHERE c.kind = 13 AND c.scope = p.inside), 0)
  FROM unnest($1::text[]) WITH ORDINALITY p(inside, i);

-- a list with a filter
SELECT 0 + (SELECT COUNT(*) FROM external_group_role_mapping t WHERE t.root = $1 AND t.external_group_id = $2);
SELECT t.uid, t.external_group_id, t.role, t.scope, t.create_time
  FROM external_group_role_mapping t
  WHERE t.root = $1
  AND t.external_group_id = $2
  ORDER BY t.uid LIMIT $3;

-- SQLITE

-- a list
SELECT 0 + COALESCE((SELECT CAST(SUM(c.n) AS BIGINT) FROM counter c WHERE c.kind = 13 AND c.scope IN (SELECT value FROM json_each(?1))), 0);
SELECT t.uid, t.external_group_id, t.role, t.scope, t.create_time
  FROM external_group_role_mapping t
  WHERE t.uid > ?1
  AND t.uid < ?2
  ORDER BY t.uid LIMIT ?3;

-- lists of 2 parents
SELECT p.i, t.uid, t.external_group_id, t.role, t.scope, t.create_time
  FROM (SELECT j.key + 1 AS i, unhex(j.value ->> 0) AS k FROM json_each(?1) j) p
  CROSS JOIN external_group_role_mapping t ON t.rowid IN (SELECT t.rowid FROM external_group_role_mapping t WHERE t.parent = p.k ORDER BY t.uid LIMIT ?2 OFFSET ?3);
SELECT p.i, COALESCE((SELECT CAST(SUM(c.nc) AS BIGINT) FROM counter c WHERE c.kind = 13 AND c.scope = p.inside), 0)
  FROM (SELECT j.key + 1 AS i, j.value ->> 0 AS inside FROM json_each(?1) j) p;

-- a list with a filter
SELECT 0 + (SELECT COUNT(*) FROM external_group_role_mapping t WHERE t.root = ?1 AND t.external_group_id = ?2);
SELECT t.uid, t.external_group_id, t.role, t.scope, t.create_time
  FROM external_group_role_mapping t
  WHERE t.root = ?1
  AND t.external_group_id = ?2
  ORDER BY t.uid LIMIT ?3;

