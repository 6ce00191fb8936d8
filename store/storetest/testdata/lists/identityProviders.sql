-- POSTGRES

-- a list
SELECT 0 + COALESCE((SELECT CAST(SUM(c.n) AS BIGINT) FROM counter c WHERE c.kind = 10 AND c.scope = ANY($1)), 0);
SELECT t.uid, t.name, t.description, t.default_role, t.oidc, t.client_secret, t.create_time, t.update_time, COALESCE(v.method, ''), v.verify_time
  FROM (SELECT t.uid, t.name, t.description, t.default_role, t.oidc, t.client_secret, t.create_time, t.update_time, t.issuer, t.root FROM identity_provider t WHERE t.root = $1 ORDER BY t.name, t.uid LIMIT $2) t
  LEFT JOIN issuer_proof v ON v.issuer = t.issuer
  AND v.root = t.root
  ORDER BY t.name, t.uid;

-- lists of 2 parents
SELECT p.i, t.uid, t.name, t.description, t.default_role, t.oidc, t.client_secret, t.create_time, t.update_time, COALESCE(v.method, ''), v.verify_time
  FROM unnest($1::bytea[]) WITH ORDINALITY p(k, i)
  CROSS JOIN LATERAL (SELECT t.uid, t.name, t.description, t.default_role, t.oidc, t.client_secret, t.create_time, t.update_time, t.issuer, t.root FROM identity_provider t WHERE t.parent = p.k ORDER BY t.name LIMIT $2 OFFSET $3) t
  LEFT JOIN issuer_proof v ON v.issuer = t.issuer
  AND v.root = t.root;
SELECT p.i, COALESCE((SELECT CAST(SUM(c.nc) AS BIGINT) FROM counter c WHERE c.kind = 10 AND c.scope = p.inside), 0)
  FROM unnest($1::text[]) WITH ORDINALITY p(inside, i);

-- a list with a filter
SELECT 0 + (SELECT COUNT(*) FROM identity_provider t WHERE t.root = $1 AND t.update_time >= $2);
SELECT t.uid, t.name, t.description, t.default_role, t.oidc, t.client_secret, t.create_time, t.update_time, COALESCE(v.method, ''), v.verify_time
  FROM (SELECT t.uid, t.name, t.description, t.default_role, t.oidc, t.client_secret, t.create_time, t.update_time, t.issuer, t.root FROM identity_provider t WHERE t.root = $1 AND t.update_time >= $2 ORDER BY t.name, t.uid LIMIT $3) t
  LEFT JOIN issuer_proof v ON v.issuer = t.issuer
  AND v.root = t.root
  ORDER BY t.name, t.uid;

-- SQLITE

-- a list
SELECT 0 + COALESCE((SELECT CAST(SUM(c.n) AS BIGINT) FROM counter c WHERE c.kind = 10 AND c.scope IN (SELECT value FROM json_each(?1))), 0);
SELECT t.uid, t.name, t.description, t.default_role, t.oidc, t.client_secret, t.create_time, t.update_time, COALESCE(v.method, ''), v.verify_time
  FROM (SELECT t.uid, t.name, t.description, t.default_role, t.oidc, t.client_secret, t.create_time, t.update_time, t.issuer, t.root FROM identity_provider t WHERE t.root = ?1 ORDER BY t.name, t.uid LIMIT ?2) t
  LEFT JOIN issuer_proof v ON v.issuer = t.issuer
  AND v.root = t.root
  ORDER BY t.name, t.uid;

-- lists of 2 parents
SELECT p.i, t.uid, t.name, t.description, t.default_role, t.oidc, t.client_secret, t.create_time, t.update_time, COALESCE(v.method, ''), v.verify_time
  FROM (SELECT j.key + 1 AS i, unhex(j.value ->> 0) AS k FROM json_each(?1) j) p
  CROSS JOIN identity_provider t ON t.rowid IN (SELECT t.rowid FROM identity_provider t WHERE t.parent = p.k ORDER BY t.name LIMIT ?2 OFFSET ?3)
  LEFT JOIN issuer_proof v ON v.issuer = t.issuer
  AND v.root = t.root;
SELECT p.i, COALESCE((SELECT CAST(SUM(c.nc) AS BIGINT) FROM counter c WHERE c.kind = 10 AND c.scope = p.inside), 0)
  FROM (SELECT j.key + 1 AS i, j.value ->> 0 AS inside FROM json_each(?1) j) p;

-- a list with a filter
SELECT 0 + (SELECT COUNT(*) FROM identity_provider t WHERE t.root = ?1 AND t.update_time >= ?2);
SELECT t.uid, t.name, t.description, t.default_role, t.oidc, t.client_secret, t.create_time, t.update_time, COALESCE(v.method, ''), v.verify_time
  FROM (SELECT t.uid, t.name, t.description, t.default_role, t.oidc, t.client_secret, t.create_time, t.update_time, t.issuer, t.root FROM identity_provider t WHERE t.root = ?1 AND t.update_time >= ?2 ORDER BY t.name, t.uid LIMIT ?3) t
  LEFT JOIN issuer_proof v ON v.issuer = t.issuer
  AND v.root = t.root
  ORDER BY t.name, t.uid;

