-- POSTGRES

-- a list
SELECT 0 + COALESCE((SELECT CAST(SUM(c.n) AS BIGINT) FROM counter c WHERE c.kind = 12 AND c.scope = ANY($1)), 0);
SELECT t.uid, t.role, t.email, t.single_use, t.key_id, t.hash, t.expiration_time, t.create_time, r.uid, r.name, r.description, r.capabilities
  FROM (SELECT t.uid, t.role, t.email, t.single_use, t.key_id, t.hash, t.expiration_time, t.create_time FROM group_invite t WHERE t.uid > $1 AND t.uid < $2 ORDER BY t.uid LIMIT $3) t
  JOIN role r ON r.uid = t.role
  ORDER BY t.uid;

-- lists of 2 parents
SELECT p.i, t.uid, t.role, t.email, t.single_use, t.key_id, t.hash, t.expiration_time, t.create_time, r.uid, r.name, r.description, r.capabilities
  FROM unnest($1::bytea[]) WITH ORDINALITY p(k, i)
  CROSS JOIN LATERAL (SELECT t.uid, t.role, t.email, t.single_use, t.key_id, t.hash, t.expiration_time, t.create_time FROM group_invite t WHERE t.parent = p.k ORDER BY t.uid LIMIT $2 OFFSET $3) t
  JOIN role r ON r.uid = t.role;
SELECT p.i, COALESCE((SELECT CAST(SUM(c.nc) AS BIGINT) FROM counter c WHERE c.kind = 12 AND c.scope = p.inside), 0)
  FROM unnest($1::text[]) WITH ORDINALITY p(inside, i);

-- a list with a filter
SELECT 0 + (SELECT COUNT(*) FROM group_invite t WHERE t.root = $1 AND t.key_id = $2);
SELECT t.uid, t.role, t.email, t.single_use, t.key_id, t.hash, t.expiration_time, t.create_time, r.uid, r.name, r.description, r.capabilities
  FROM (SELECT t.uid, t.role, t.email, t.single_use, t.key_id, t.hash, t.expiration_time, t.create_time FROM group_invite t WHERE t.root = $1 AND t.key_id = $2 ORDER BY t.uid LIMIT $3) t
  JOIN role r ON r.uid = t.role
  ORDER BY t.uid;

-- SQLITE

-- a list
SELECT 0 + COALESCE((SELECT CAST(SUM(c.n) AS BIGINT) FROM counter c WHERE c.kind = 12 AND c.scope IN (SELECT value FROM json_each(?1))), 0);
SELECT t.uid, t.role, t.email, t.single_use, t.key_id, t.hash, t.expiration_time, t.create_time, r.uid, r.name, r.description, r.capabilities
  FROM (SELECT t.uid, t.role, t.email, t.single_use, t.key_id, t.hash, t.expiration_time, t.create_time FROM group_invite t WHERE t.uid > ?1 AND t.uid < ?2 ORDER BY t.uid LIMIT ?3) t
  JOIN role r ON r.uid = t.role
  ORDER BY t.uid;

-- lists of 2 parents
SELECT p.i, t.uid, t.role, t.email, t.single_use, t.key_id, t.hash, t.expiration_time, t.create_time, r.uid, r.name, r.description, r.capabilities
  FROM (SELECT j.key + 1 AS i, unhex(j.value ->> 0) AS k FROM json_each(?1) j) p
  CROSS JOIN group_invite t ON t.rowid IN (SELECT t.rowid FROM group_invite t WHERE t.parent = p.k ORDER BY t.uid LIMIT ?2 OFFSET ?3)
  JOIN role r ON r.uid = t.role;
SELECT p.i, COALESCE((SELECT CAST(SUM(c.nc) AS BIGINT) FROM counter c WHERE c.kind = 12 AND c.scope = p.inside), 0)
  FROM (SELECT j.key + 1 AS i, j.value ->> 0 AS inside FROM json_each(?1) j) p;

-- a list with a filter
SELECT 0 + (SELECT COUNT(*) FROM group_invite t WHERE t.root = ?1 AND t.key_id = ?2);
SELECT t.uid, t.role, t.email, t.single_use, t.key_id, t.hash, t.expiration_time, t.create_time, r.uid, r.name, r.description, r.capabilities
  FROM (SELECT t.uid, t.role, t.email, t.single_use, t.key_id, t.hash, t.expiration_time, t.create_time FROM group_invite t WHERE t.root = ?1 AND t.key_id = ?2 ORDER BY t.uid LIMIT ?3) t
  JOIN role r ON r.uid = t.role
  ORDER BY t.uid;

