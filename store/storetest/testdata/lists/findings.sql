-- POSTGRES

-- a list
SELECT 0 + COALESCE((SELECT CAST(SUM(c.n) AS BIGINT) FROM counter c WHERE c.kind BETWEEN 150 AND 245 AND c.scope = ANY($1)), 0);
SELECT t.uid, t.digest, t.advisory, t.vulnerability, t.package, t.ecosystem, t.version, t.version_uid, t.representative, t.disputed_by, t.sources, t.binary_packages, t.fixed_versions, t.scope, t.direct, t.new_in_repo, t.lacks_fix, t.severity, t.known_exploited, t.epss, t.basis, t.state, t.justification, t.note, t.assignee, t.due_time, t.due_set, t.expire_time, t.decided_by, t.decision, t.live, t.first_seen_time, t.resolved_time, t.update_time
  FROM finding t
  WHERE t.root_key = $1
  AND t.count_class > 0
  ORDER BY t.severity DESC, t.rest DESC LIMIT $2;

-- lists of 2 parents
SELECT p.i, t.uid, t.digest, t.advisory, t.vulnerability, t.package, t.ecosystem, t.version, t.version_uid, t.representative, t.disputed_by, t.sources, t.binary_packages, t.fixed_versions, t.scope, t.direct, t.new_in_repo, t.lacks_fix, t.severity, t.known_exploited, t.epss, t.basis, t.state, t.justification, t.note, t.assignee, t.due_time, t.due_set, t.expire_time, t.decided_by, t.decision, t.live, t.first_seen_time, t.resolved_time, t.update_time
  FROM unnest($1::bytea[], $2::bytea[]) WITH ORDINALITY p(k, rest, i)
  CROSS JOIN LATERAL (SELECT t.uid, t.rest, t.local, t.digest, t.advisory, t.vulnerability, t.package, t.ecosystem, t.version, t.version_uid, t.representative, t.disputed_by, t.sources, t.binary_packages, t.fixed_versions, t.scope, t.direct, t.new_in_repo, t.lacks_fix, t.severity, t.known_exploited, t.epss, t.basis, t.state, t.justification, t.note, t.assignee, t.due_time, t.due_set, t.expire_time, t.decided_by, t.decision, t.live, t.first_seen_time, t.resolved_time, t.update_time FROM finding t WHERE t.parent_key = p.k AND CASE WHEN substr(t.rest, 1, length(t.rest) - 8) = p.rest THEN 1 END IS NOT NULL AND t.count_class > 0 ORDER BY t.severity DESC, t.local DESC LIMIT $3 OFFSET $4) t;
SELECT p.i, COALESCE((SELECT CAST(SUM(c.nc) AS BIGINT) FROM counter c WHERE c.kind BETWEEN 150 AND 245 AND c.scope = p.inside), 0)
  FROM unnest($1::text[]) WITH ORDINALITY p(inside, i);

-- a list with a filter
SELECT COUNT(*)
  FROM (SELECT 1 FROM (SELECT DISTINCT d.vulnerability, d.package, d.sources FROM finding d WHERE d.root_key = $1 LIMIT $2) w CROSS JOIN LATERAL (SELECT * FROM finding t WHERE t.root_key = $3 AND t.vulnerability = w.vulnerability AND t.package = w.package AND t.sources = w.sources OFFSET 0) t WHERE t.root_key = $4 AND t.vulnerability = w.vulnerability AND t.package = w.package AND t.sources = w.sources AND lower(w.vulnerability || ' ' || w.sources || ' ' || w.package) LIKE $5 ESCAPE '\' AND t.count_class > 0 AND t.count_class IN (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95, 96) LIMIT $6) x;
SELECT 0 + (SELECT COUNT(*) FROM (SELECT DISTINCT d.vulnerability, d.package, d.sources FROM finding d WHERE d.root_key = $1 LIMIT $2) w CROSS JOIN LATERAL (SELECT * FROM finding t WHERE t.root_key = $3 AND t.vulnerability = w.vulnerability AND t.package = w.package AND t.sources = w.sources OFFSET 0) t WHERE t.root_key = $4 AND t.vulnerability = w.vulnerability AND t.package = w.package AND t.sources = w.sources AND lower(w.vulnerability || ' ' || w.sources || ' ' || w.package) LIKE $5 ESCAPE '\' AND t.count_class > 0 AND t.count_class IN (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95, 96));
SELECT t.uid, t.digest, t.advisory, t.vulnerability, t.package, t.ecosystem, t.version, t.version_uid, t.representative, t.disputed_by, t.sources, t.binary_packages, t.fixed_versions, t.scope, t.direct, t.new_in_repo, t.lacks_fix, t.severity, t.known_exploited, t.epss, t.basis, t.state, t.justification, t.note, t.assignee, t.due_time, t.due_set, t.expire_time, t.decided_by, t.decision, t.live, t.first_seen_time, t.resolved_time, t.update_time
  FROM (SELECT DISTINCT d.vulnerability, d.package, d.sources FROM finding d WHERE d.root_key = $1 LIMIT $2) w
  CROSS JOIN LATERAL (SELECT * FROM finding t WHERE t.root_key = $3 AND t.vulnerability = w.vulnerability AND t.package = w.package AND t.sources = w.sources OFFSET 0) t
  WHERE t.root_key = $4
  AND t.vulnerability = w.vulnerability
  AND t.package = w.package
  AND t.sources = w.sources
  AND lower(w.vulnerability || ' ' || w.sources || ' ' || w.package) LIKE $5 ESCAPE '\'
  AND t.count_class > 0
  AND t.count_class IN (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95, 96)
  ORDER BY COALESCE(t.severity, t.severity) DESC, t.rest DESC LIMIT $6;

-- SQLITE

-- a list
SELECT 0 + COALESCE((SELECT CAST(SUM(c.n) AS BIGINT) FROM counter c WHERE c.kind BETWEEN 150 AND 245 AND c.scope IN (SELECT value FROM json_each(?1))), 0);
SELECT t.uid, t.digest, t.advisory, t.vulnerability, t.package, t.ecosystem, t.version, t.version_uid, t.representative, t.disputed_by, t.sources, t.binary_packages, t.fixed_versions, t.scope, t.direct, t.new_in_repo, t.lacks_fix, t.severity, t.known_exploited, t.epss, t.basis, t.state, t.justification, t.note, t.assignee, t.due_time, t.due_set, t.expire_time, t.decided_by, t.decision, t.live, t.first_seen_time, t.resolved_time, t.update_time
  FROM finding t
  WHERE t.root_key = ?1
  AND t.count_class > 0
  ORDER BY t.severity DESC, t.rest DESC LIMIT ?2;

-- lists of 2 parents
SELECT p.i, t.uid, t.digest, t.advisory, t.vulnerability, t.package, t.ecosystem, t.version, t.version_uid, t.representative, t.disputed_by, t.sources, t.binary_packages, t.fixed_versions, t.scope, t.direct, t.new_in_repo, t.lacks_fix, t.severity, t.known_exploited, t.epss, t.basis, t.state, t.justification, t.note, t.assignee, t.due_time, t.due_set, t.expire_time, t.decided_by, t.decision, t.live, t.first_seen_time, t.resolved_time, t.update_time
  FROM (SELECT j.key + 1 AS i, unhex(j.value ->> 0) AS k, unhex(j.value ->> 1) AS rest FROM json_each(?1) j) p
  CROSS JOIN finding t ON t.rowid IN (SELECT t.rowid FROM finding t WHERE t.parent_key = p.k AND CASE WHEN substr(t.rest, 1, length(t.rest) - 8) = p.rest THEN 1 END IS NOT NULL AND t.count_class > 0 ORDER BY t.severity DESC, t.local DESC LIMIT ?2 OFFSET ?3);
SELECT p.i, COALESCE((SELECT CAST(SUM(c.nc) AS BIGINT) FROM counter c WHERE c.kind BETWEEN 150 AND 245 AND c.scope = p.inside), 0)
  FROM (SELECT j.key + 1 AS i, j.value ->> 0 AS inside FROM json_each(?1) j) p;

-- a list with a filter
SELECT COUNT(*)
  FROM (SELECT 1 FROM (SELECT DISTINCT d.vulnerability, d.package, d.sources FROM finding d WHERE d.root_key = ?1 LIMIT ?2) w CROSS JOIN finding t WHERE t.root_key = ?3 AND t.vulnerability = w.vulnerability AND t.package = w.package AND t.sources = w.sources AND lower(w.vulnerability || ' ' || w.sources || ' ' || w.package) LIKE ?4 ESCAPE '\' AND t.count_class > 0 AND t.count_class IN (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95, 96) LIMIT ?5) x;
SELECT 0 + (SELECT COUNT(*) FROM (SELECT DISTINCT d.vulnerability, d.package, d.sources FROM finding d WHERE d.root_key = ?1 LIMIT ?2) w CROSS JOIN finding t WHERE t.root_key = ?3 AND t.vulnerability = w.vulnerability AND t.package = w.package AND t.sources = w.sources AND lower(w.vulnerability || ' ' || w.sources || ' ' || w.package) LIKE ?4 ESCAPE '\' AND t.count_class > 0 AND t.count_class IN (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95, 96));
SELECT t.uid, t.digest, t.advisory, t.vulnerability, t.package, t.ecosystem, t.version, t.version_uid, t.representative, t.disputed_by, t.sources, t.binary_packages, t.fixed_versions, t.scope, t.direct, t.new_in_repo, t.lacks_fix, t.severity, t.known_exploited, t.epss, t.basis, t.state, t.justification, t.note, t.assignee, t.due_time, t.due_set, t.expire_time, t.decided_by, t.decision, t.live, t.first_seen_time, t.resolved_time, t.update_time
  FROM (SELECT DISTINCT d.vulnerability, d.package, d.sources FROM finding d WHERE d.root_key = ?1 LIMIT ?2) w
  CROSS JOIN finding t
  WHERE t.root_key = ?3
  AND t.vulnerability = w.vulnerability
  AND t.package = w.package
  AND t.sources = w.sources
  AND lower(w.vulnerability || ' ' || w.sources || ' ' || w.package) LIKE ?4 ESCAPE '\'
  AND t.count_class > 0
  AND t.count_class IN (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95, 96)
  ORDER BY COALESCE(t.severity, t.severity) DESC, t.rest DESC LIMIT ?5;

