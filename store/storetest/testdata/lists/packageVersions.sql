-- POSTGRES

-- a list
SELECT 0 + (SELECT COUNT(*) FROM package_version t WHERE t.root = $1);
SELECT t.uid, t.version, t.rank, t.create_time, k.uid, k.name, k.ecosystem
  FROM (SELECT t.uid, t.version, t.rank, t.create_time, t.parent FROM package_version t WHERE t.root = $1 ORDER BY t.rank, t.uid LIMIT $2) t
  JOIN package k ON k.uid = t.parent
  ORDER BY t.rank, t.uid;

-- a list with a filter
SELECT 0 + (SELECT COUNT(*) FROM package_version t WHERE t.root = $1 AND t.version = $2);
SELECT t.uid, t.version, t.rank, t.create_time, k.uid, k.name, k.ecosystem
  FROM (SELECT t.uid, t.version, t.rank, t.create_time, t.parent FROM package_version t WHERE t.root = $1 AND t.version = $2 ORDER BY t.rank, t.uid LIMIT $3) t
  JOIN package k ON k.uid = t.parent
  ORDER BY t.rank, t.uid;

-- SQLITE

-- a list
SELECT 0 + (SELECT COUNT(*) FROM package_version t WHERE t.root = ?1);
SELECT t.uid, t.version, t.rank, t.create_time, k.uid, k.name, k.ecosystem
  FROM (SELECT t.uid, t.version, t.rank, t.create_time, t.parent FROM package_version t WHERE t.root = ?1 ORDER BY t.rank, t.uid LIMIT ?2) t
  JOIN package k ON k.uid = t.parent
  ORDER BY t.rank, t.uid;

-- a list with a filter
SELECT 0 + (SELECT COUNT(*) FROM package_version t WHERE t.root = ?1 AND t.version = ?2);
SELECT t.uid, t.version, t.rank, t.create_time, k.uid, k.name, k.ecosystem
  FROM (SELECT t.uid, t.version, t.rank, t.create_time, t.parent FROM package_version t WHERE t.root = ?1 AND t.version = ?2 ORDER BY t.rank, t.uid LIMIT ?3) t
  JOIN package k ON k.uid = t.parent
  ORDER BY t.rank, t.uid;

