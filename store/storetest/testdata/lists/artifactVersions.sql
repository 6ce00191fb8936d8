-- POSTGRES

-- a list
SELECT 0 + COALESCE((SELECT CAST(SUM(c.nc) AS BIGINT) FROM counter c WHERE c.kind = 16 AND c.scope = ANY($1)), 0);
SELECT t.uid, t.version, t.label, t.size_bytes, t.create_time, t.update_time, a.name, a.description
  FROM (SELECT t.uid, t.version, t.label, t.size_bytes, t.create_time, t.update_time, t.parent FROM artifact_version t WHERE t.parent = $1 ORDER BY t.version DESC, t.uid DESC LIMIT $2) t
  JOIN artifact a ON a.uid = t.parent
  ORDER BY t.version DESC, t.uid DESC;

-- lists of 2 parents
SELECT p.i, t.uid, t.version, t.label, t.size_bytes, t.create_time, t.update_time, a.name, a.description
  FROM unnest($1::bytea[]) WITH ORDINALITY p(k, i)
  CROSS JOIN LATERAL (SELECT t.uid, t.version, t.label, t.size_bytes, t.create_time, t.update_time, t.parent FROM artifact_version t WHERE t.parent = p.k ORDER BY t.version DESC, t.uid DESC LIMIT $2 OFFSET $3) t
  JOIN artifact a ON a.uid = t.parent;
SELECT p.i, COALESCE((SELECT CAST(SUM(c.nc) AS BIGINT) FROM counter c WHERE c.kind = 16 AND c.scope = p.inside), 0)
  FROM unnest($1::text[]) WITH ORDINALITY p(inside, i);

-- a list with a filter
SELECT 0 + COALESCE((SELECT CAST(SUM(c.nc) AS BIGINT) FROM counter c WHERE c.kind = 16 AND c.scope = ANY($1)), 0);
SELECT t.uid, t.version, t.label, t.size_bytes, t.create_time, t.update_time, a.name, a.description
  FROM (SELECT t.uid, t.version, t.label, t.size_bytes, t.create_time, t.update_time, t.parent FROM artifact_version t WHERE t.parent = $1 ORDER BY t.version DESC, t.uid DESC LIMIT $2) t
  JOIN artifact a ON a.uid = t.parent
  ORDER BY t.version DESC, t.uid DESC;

-- SQLITE

-- a list
SELECT 0 + COALESCE((SELECT CAST(SUM(c.nc) AS BIGINT) FROM counter c WHERE c.kind = 16 AND c.scope IN (SELECT value FROM json_each(?1))), 0);
SELECT t.uid, t.version, t.label, t.size_bytes, t.create_time, t.update_time, a.name, a.description
  FROM (SELECT t.uid, t.version, t.label, t.size_bytes, t.create_time, t.update_time, t.parent FROM artifact_version t WHERE t.parent = ?1 ORDER BY t.version DESC, t.uid DESC LIMIT ?2) t
  JOIN artifact a ON a.uid = t.parent
  ORDER BY t.version DESC, t.uid DESC;

-- lists of 2 parents
SELECT p.i, t.uid, t.version, t.label, t.size_bytes, t.create_time, t.update_time, a.name, a.description
  FROM (SELECT j.key + 1 AS i, unhex(j.value ->> 0) AS k FROM json_each(?1) j) p
  CROSS JOIN artifact_version t ON t.rowid IN (SELECT t.rowid FROM artifact_version t WHERE t.parent = p.k ORDER BY t.version DESC, t.uid DESC LIMIT ?2 OFFSET ?3)
  JOIN artifact a ON a.uid = t.parent;
SELECT p.i, COALESCE((SELECT CAST(SUM(c.nc) AS BIGINT) FROM counter c WHERE c.kind = 16 AND c.scope = p.inside), 0)
  FROM (SELECT j.key + 1 AS i, j.value ->> 0 AS inside FROM json_each(?1) j) p;

-- a list with a filter
SELECT 0 + COALESCE((SELECT CAST(SUM(c.nc) AS BIGINT) FROM counter c WHERE c.kind = 16 AND c.scope IN (SELECT value FROM json_each(?1))), 0);
SELECT t.uid, t.version, t.label, t.size_bytes, t.create_time, t.update_time, a.name, a.description
  FROM (SELECT t.uid, t.version, t.label, t.size_bytes, t.create_time, t.update_time, t.parent FROM artifact_version t WHERE t.parent = ?1 ORDER BY t.version DESC, t.uid DESC LIMIT ?2) t
  JOIN artifact a ON a.uid = t.parent
  ORDER BY t.version DESC, t.uid DESC;

