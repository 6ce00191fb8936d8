-- POSTGRES

-- a list
SELECT 0 + COALESCE((SELECT CAST(SUM(c.n) AS BIGINT) FROM counter c WHERE c.kind = 127 AND c.scope = ANY($1)), 0);
SELECT t.uid, t.advisory_id, t.artifact_name, t.artifact_type, t.artifact_architecture, t.component_name, t.component_location, t.component_type, t.legacy_advisory_id, t.author, t.origin, t.aliases, t.upstream, t.related, t.events, t.severities, t.severity, t.severity_vector, t.severity_version, t.severity_source, t.representative, t.delete_time, t.source_time, t.create_time, t.update_time
  FROM advisory t
  WHERE t.uid > $1
  AND t.uid < $2
  AND t.count_class > 0
  ORDER BY t.uid LIMIT $3;

-- lists of 2 parents
SELECT p.i, t.uid, t.advisory_id, t.artifact_name, t.artifact_type, t.artifact_architecture, t.component_name, t.component_location, t.component_type, t.legacy_advisory_id, t.author, t.origin, t.aliases, t.upstream, t.related, t.events, t.severities, t.severity, t.severity_vector, t.severity_version, t.severity_source, t.representative, t.delete_time, t.source_time, t.create_time, t.update_time
  FROM unnest($1::bytea[], $2::bytea[]) WITH ORDINALITY p(k, rest, i)
  CROSS JOIN LATERAL (SELECT t.uid, t.rest, t.local, t.advisory_id, t.artifact_name, t.artifact_type, t.artifact_architecture, t.component_name, t.component_location, t.component_type, t.legacy_advisory_id, t.author, t.origin, t.aliases, t.upstream, t.related, t.events, t.severities, t.severity, t.severity_vector, t.severity_version, t.severity_source, t.representative, t.delete_time, t.source_time, t.create_time, t.update_time FROM advisory t WHERE t.parent_key = p.k AND CASE WHEN substr(t.rest, 1, length(t.rest) - 8) = p.rest THEN 1 END IS NOT NULL AND t.count_class > 0 ORDER BY t.local LIMIT $3 OFFSET $4) t;
SELECT p.i, COALESCE((SELECT CAST(SUM(c.nc) AS BIGINT) FROM counter c WHERE c.kind = 127 AND c.scope = p.inside), 0)
  FROM unnest($1::text[]) WITH ORDINALITY p(inside, i);

-- a list with a filter
SELECT 0 + (SELECT COUNT(*) FROM advisory t WHERE t.root_key = $1 AND t.uid IN (SELECT a.uid FROM advisory_alias a WHERE a.alias = $2) AND t.count_class > 0 AND (t.severity >= $3 AND t.severity < $4));
SELECT t.uid, t.advisory_id, t.artifact_name, t.artifact_type, t.artifact_architecture, t.component_name, t.component_location, t.component_type, t.legacy_advisory_id, t.author, t.origin, t.aliases, t.upstream, t.related, t.events, t.severities, t.severity, t.severity_vector, t.severity_version, t.severity_source, t.representative, t.delete_time, t.source_time, t.create_time, t.update_time
  FROM advisory t
  WHERE t.root_key = $1
  AND t.uid IN (SELECT a.uid FROM advisory_alias a WHERE a.alias = $2)
  AND t.count_class > 0
  AND (t.severity >= $3 AND t.severity < $4)
  ORDER BY t.rest LIMIT $5;

-- SQLITE

-- a list
SELECT 0 + COALESCE((SELECT CAST(SUM(c.n) AS BIGINT) FROM counter c WHERE c.kind = 127 AND c.scope IN (SELECT value FROM json_each(?1))), 0);
SELECT t.uid, t.advisory_id, t.artifact_name, t.artifact_type, t.artifact_architecture, t.component_name, t.component_location, t.component_type, t.legacy_advisory_id, t.author, t.origin, t.aliases, t.upstream, t.related, t.events, t.severities, t.severity, t.severity_vector, t.severity_version, t.severity_source, t.representative, t.delete_time, t.source_time, t.create_time, t.update_time
  FROM advisory t
  WHERE t.uid > ?1
  AND t.uid < ?2
  AND t.count_class > 0
  ORDER BY t.uid LIMIT ?3;

-- lists of 2 parents
SELECT p.i, t.uid, t.advisory_id, t.artifact_name, t.artifact_type, t.artifact_architecture, t.component_name, t.component_location, t.component_type, t.legacy_advisory_id, t.author, t.origin, t.aliases, t.upstream, t.related, t.events, t.severities, t.severity, t.severity_vector, t.severity_version, t.severity_source, t.representative, t.delete_time, t.source_time, t.create_time, t.update_time
  FROM (SELECT j.key + 1 AS i, unhex(j.value ->> 0) AS k, unhex(j.value ->> 1) AS rest FROM json_each(?1) j) p
  CROSS JOIN advisory t ON t.rowid IN (SELECT t.rowid FROM advisory t WHERE t.parent_key = p.k AND CASE WHEN substr(t.rest, 1, length(t.rest) - 8) = p.rest THEN 1 END IS NOT NULL AND t.count_class > 0 ORDER BY t.local LIMIT ?2 OFFSET ?3);
SELECT p.i, COALESCE((SELECT CAST(SUM(c.nc) AS BIGINT) FROM counter c WHERE c.kind = 127 AND c.scope = p.inside), 0)
  FROM (SELECT j.key + 1 AS i, j.value ->> 0 AS inside FROM json_each(?1) j) p;

-- a list with a filter
SELECT 0 + (SELECT COUNT(*) FROM advisory t WHERE t.root_key = ?1 AND t.uid IN (SELECT a.uid FROM advisory_alias a WHERE a.alias = ?2) AND t.count_class > 0 AND (t.severity >= ?3 AND t.severity < ?4));
SELECT t.uid, t.advisory_id, t.artifact_name, t.artifact_type, t.artifact_architecture, t.component_name, t.component_location, t.component_type, t.legacy_advisory_id, t.author, t.origin, t.aliases, t.upstream, t.related, t.events, t.severities, t.severity, t.severity_vector, t.severity_version, t.severity_source, t.representative, t.delete_time, t.source_time, t.create_time, t.update_time
  FROM advisory t
  WHERE t.root_key = ?1
  AND t.uid IN (SELECT a.uid FROM advisory_alias a WHERE a.alias = ?2)
  AND t.count_class > 0
  AND (t.severity >= ?3 AND t.severity < ?4)
  ORDER BY t.rest LIMIT ?5;

