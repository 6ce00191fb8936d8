-- POSTGRES

-- a list
SELECT 0 + COALESCE((SELECT CAST(SUM(c.n) AS BIGINT) FROM counter c WHERE c.kind = 15 AND c.scope = ANY($1)), 0);
SELECT t.uid, t.ecosystem, t.name, t.description, t.remediated, t.cuda_version, t.latest_version, t.version_count, t.create_time, t.update_time
  FROM (SELECT b.uid FROM (SELECT * FROM (SELECT t.name AS sorted, t.uid FROM artifact t WHERE t.ecosystem = $1 ORDER BY t.name, t.uid LIMIT $2) u UNION ALL SELECT * FROM (SELECT t.name AS sorted, t.uid FROM artifact t WHERE t.ecosystem = $3 ORDER BY t.name, t.uid LIMIT $4) u) b ORDER BY b.sorted, b.uid LIMIT $5 OFFSET $6) k
  JOIN artifact t ON t.uid = k.uid
  ORDER BY t.name, t.uid;

-- a list with a filter
SELECT 0 + (SELECT COUNT(*) FROM artifact t WHERE t.ecosystem = $1 AND t.search LIKE $2 ESCAPE '\') + (SELECT COUNT(*) FROM artifact t WHERE t.ecosystem = $3 AND t.search LIKE $4 ESCAPE '\');
SELECT t.uid, t.ecosystem, t.name, t.description, t.remediated, t.cuda_version, t.latest_version, t.version_count, t.create_time, t.update_time
  FROM (SELECT b.uid FROM (SELECT * FROM (SELECT t.name AS sorted, t.uid FROM artifact t WHERE t.ecosystem = $1 AND t.search LIKE $2 ESCAPE '\' ORDER BY COALESCE(t.name, t.name), t.uid LIMIT $3) u UNION ALL SELECT * FROM (SELECT t.name AS sorted, t.uid FROM artifact t WHERE t.ecosystem = $4 AND t.search LIKE $5 ESCAPE '\' ORDER BY COALESCE(t.name, t.name), t.uid LIMIT $6) u) b ORDER BY b.sorted, b.uid LIMIT $7 OFFSET $8) k
  JOIN artifact t ON t.uid = k.uid
  ORDER BY COALESCE(t.name, t.name), t.uid;

-- SQLITE

-- a list
SELECT 0 + COALESCE((SELECT CAST(SUM(c.n) AS BIGINT) FROM counter c WHERE c.kind = 15 AND c.scope IN (SELECT value FROM json_each(?1))), 0);
SELECT t.uid, t.ecosystem, t.name, t.description, t.remediated, t.cuda_version, t.latest_version, t.version_count, t.create_time, t.update_time
  FROM (SELECT b.uid FROM (SELECT * FROM (SELECT t.name AS sorted, t.uid FROM artifact t WHERE t.ecosystem = ?1 ORDER BY t.name, t.uid LIMIT ?2) u UNION ALL SELECT * FROM (SELECT t.name AS sorted, t.uid FROM artifact t WHERE t.ecosystem = ?3 ORDER BY t.name, t.uid LIMIT ?4) u) b ORDER BY b.sorted, b.uid LIMIT ?5 OFFSET ?6) k
  JOIN artifact t ON t.uid = k.uid
  ORDER BY t.name, t.uid;

-- a list with a filter
SELECT 0 + (SELECT COUNT(*) FROM (SELECT e.uid FROM search_index x CROSS JOIN search_entry e ON e.id = x.rowid WHERE x.search_index MATCH ?1) f CROSS JOIN artifact t ON t.uid = f.uid WHERE t.ecosystem = ?2 AND t.search LIKE ?3 ESCAPE '\') + (SELECT COUNT(*) FROM (SELECT e.uid FROM search_index x CROSS JOIN search_entry e ON e.id = x.rowid WHERE x.search_index MATCH ?4) f CROSS JOIN artifact t ON t.uid = f.uid WHERE t.ecosystem = ?5 AND t.search LIKE ?6 ESCAPE '\');
SELECT t.uid, t.ecosystem, t.name, t.description, t.remediated, t.cuda_version, t.latest_version, t.version_count, t.create_time, t.update_time
  FROM (SELECT b.uid FROM (SELECT * FROM (SELECT t.name AS sorted, t.uid FROM (SELECT e.uid FROM search_index x CROSS JOIN search_entry e ON e.id = x.rowid WHERE x.search_index MATCH ?1) f CROSS JOIN artifact t ON t.uid = f.uid WHERE t.ecosystem = ?2 AND t.search LIKE ?3 ESCAPE '\' ORDER BY COALESCE(t.name, t.name), t.uid LIMIT ?4) u UNION ALL SELECT * FROM (SELECT t.name AS sorted, t.uid FROM (SELECT e.uid FROM search_index x CROSS JOIN search_entry e ON e.id = x.rowid WHERE x.search_index MATCH ?5) f CROSS JOIN artifact t ON t.uid = f.uid WHERE t.ecosystem = ?6 AND t.search LIKE ?7 ESCAPE '\' ORDER BY COALESCE(t.name, t.name), t.uid LIMIT ?8) u) b ORDER BY b.sorted, b.uid LIMIT ?9 OFFSET ?10) k
  JOIN artifact t ON t.uid = k.uid
  ORDER BY COALESCE(t.name, t.name), t.uid;

