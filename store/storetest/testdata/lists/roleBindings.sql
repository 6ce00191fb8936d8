-- POSTGRES

-- a list
SELECT 0 + COALESCE((SELECT CAST(SUM(c.n) AS BIGINT) FROM counter c WHERE c.kind = 4 AND c.scope = ANY($1)), 0);
SELECT t.uid, t.create_time, t.expire_time, t.review_time, t.reviewer, t.review_note, i.uid, i.name, i.description, i.email, i.match_rule, i.static_rule, i.external_id, g.uid, g.name, g.description, r.uid, r.name, r.description
  FROM (SELECT t.uid, t.rest, t.local, t.create_time, t.expire_time, t.review_time, t.reviewer, t.review_note, t.identity, t.parent, t.role FROM role_binding t WHERE t.root_key = $1 ORDER BY t.create_time DESC, t.rest DESC LIMIT $2) t
  JOIN identity i ON i.uid = t.identity
  JOIN grp g ON g.uid = t.parent
  JOIN role r ON r.uid = t.role
  ORDER BY t.create_time DESC, t.rest DESC;

-- lists of 2 parents
SELECT p.i, t.uid, t.create_time, t.expire_time, t.review_time, t.reviewer, t.review_note, i.uid, i.name, i.description, i.email, i.match_rule, i.static_rule, i.external_id, g.uid, g.name, g.description, r.uid, r.name, r.description
  FROM unnest($1::bytea[], $2::bytea[]) WITH ORDINALITY p(k, rest, i)
  CROSS JOIN LATERAL (SELECT t.uid, t.rest, t.local, t.create_time, t.expire_time, t.review_time, t.reviewer, t.review_note, t.identity, t.parent, t.role FROM role_binding t WHERE t.parent_key = p.k AND CASE WHEN substr(t.rest, 1, length(t.rest) - 8) = p.rest THEN 1 END IS NOT NULL ORDER BY t.create_time DESC, t.local DESC LIMIT $3 OFFSET $4) t
  JOIN identity i ON i.uid = t.identity
  JOIN grp g ON g.uid = t.parent
  JOIN role r ON r.uid = t.role;
SELECT p.i, COALESCE((SELECT CAST(SUM(c.nc) AS BIGINT) FROM counter c WHERE c.kind = 4 AND c.scope = p.inside), 0)
  FROM unnest($1::text[]) WITH ORDINALITY p(inside, i);

-- a list with a filter
SELECT 0 + (SELECT COUNT(*) FROM role_binding t WHERE t.root_key = $1 AND CASE WHEN t.role IN (SELECT h.uid FROM role h WHERE (h.root = $2 OR h.root = $3) AND h.capabilities LIKE $4 ESCAPE '\') THEN 1 END IS NOT NULL AND (t.expire_time IS NULL OR t.expire_time > clock_timestamp()));
SELECT t.uid, t.create_time, t.expire_time, t.review_time, t.reviewer, t.review_note, i.uid, i.name, i.description, i.email, i.match_rule, i.static_rule, i.external_id, g.uid, g.name, g.description, r.uid, r.name, r.description
  FROM (SELECT t.uid, t.rest, t.local, t.create_time, t.expire_time, t.review_time, t.reviewer, t.review_note, t.identity, t.parent, t.role FROM role_binding t WHERE t.root_key = $1 AND CASE WHEN t.role IN (SELECT h.uid FROM role h WHERE (h.root = $2 OR h.root = $3) AND h.capabilities LIKE $4 ESCAPE '\') THEN 1 END IS NOT NULL AND (t.expire_time IS NULL OR t.expire_time > clock_timestamp()) ORDER BY t.create_time DESC, t.rest DESC LIMIT $5) t
  JOIN identity i ON i.uid = t.identity
  JOIN grp g ON g.uid = t.parent
  JOIN role r ON r.uid = t.role
  ORDER BY t.create_time DESC, t.rest DESC;

-- SQLITE

-- a list
SELECT 0 + COALESCE((SELECT CAST(SUM(c.n) AS BIGINT) FROM counter c WHERE c.kind = 4 AND c.scope IN (SELECT value FROM json_each(?1))), 0);
SELECT t.uid, t.create_time, t.expire_time, t.review_time, t.reviewer, t.review_note, i.uid, i.name, i.description, i.email, i.match_rule, i.static_rule, i.external_id, g.uid, g.name, g.description, r.uid, r.name, r.description
  FROM (SELECT t.uid, t.rest, t.local, t.create_time, t.expire_time, t.review_time, t.reviewer, t.review_note, t.identity, t.parent, t.role FROM role_binding t WHERE t.root_key = ?1 ORDER BY t.create_time DESC, t.rest DESC LIMIT ?2) t
  JOIN identity i ON i.uid = t.identity
  JOIN grp g ON g.uid = t.parent
  JOIN role r ON r.uid = t.role
  ORDER BY t.create_time DESC, t.rest DESC;

-- lists of 2 parents
SELECT p.i, t.uid, t.create_time, t.expire_time, t.review_time, t.reviewer, t.review_note, i.uid, i.name, i.description, i.email, i.match_rule, i.static_rule, i.external_id, g.uid, g.name, g.description, r.uid, r.name, r.description
  FROM (SELECT j.key + 1 AS i, unhex(j.value ->> 0) AS k, unhex(j.value ->> 1) AS rest FROM json_each(?1) j) p
  CROSS JOIN role_binding t ON t.rowid IN (SELECT t.rowid FROM role_binding t WHERE t.parent_key = p.k AND CASE WHEN substr(t.rest, 1, length(t.rest) - 8) = p.rest THEN 1 END IS NOT NULL ORDER BY t.create_time DESC, t.local DESC LIMIT ?2 OFFSET ?3)
  JOIN identity i ON i.uid = t.identity
  JOIN grp g ON g.uid = t.parent
  JOIN role r ON r.uid = t.role;
SELECT p.i, COALESCE((SELECT CAST(SUM(c.nc) AS BIGINT) FROM counter c WHERE c.kind = 4 AND c.scope = p.inside), 0)
  FROM (SELECT j.key + 1 AS i, j.value ->> 0 AS inside FROM json_each(?1) j) p;

-- a list with a filter
SELECT 0 + (SELECT COUNT(*) FROM role_binding t WHERE t.root_key = ?1 AND CASE WHEN t.role IN (SELECT h.uid FROM role h WHERE (h.root = ?2 OR h.root = ?3) AND h.capabilities LIKE ?4 ESCAPE '\') THEN 1 END IS NOT NULL AND (t.expire_time IS NULL OR t.expire_time > CAST(ROUND(unixepoch('subsec') * 1000) AS INTEGER)));
SELECT t.uid, t.create_time, t.expire_time, t.review_time, t.reviewer, t.review_note, i.uid, i.name, i.description, i.email, i.match_rule, i.static_rule, i.external_id, g.uid, g.name, g.description, r.uid, r.name, r.description
  FROM (SELECT t.uid, t.rest, t.local, t.create_time, t.expire_time, t.review_time, t.reviewer, t.review_note, t.identity, t.parent, t.role FROM role_binding t WHERE t.root_key = ?1 AND CASE WHEN t.role IN (SELECT h.uid FROM role h WHERE (h.root = ?2 OR h.root = ?3) AND h.capabilities LIKE ?4 ESCAPE '\') THEN 1 END IS NOT NULL AND (t.expire_time IS NULL OR t.expire_time > CAST(ROUND(unixepoch('subsec') * 1000) AS INTEGER)) ORDER BY t.create_time DESC, t.rest DESC LIMIT ?5) t
  JOIN identity i ON i.uid = t.identity
  JOIN grp g ON g.uid = t.parent
  JOIN role r ON r.uid = t.role
  ORDER BY t.create_time DESC, t.rest DESC;

