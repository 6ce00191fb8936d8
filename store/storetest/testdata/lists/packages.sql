-- POSTGRES

-- a list
SELECT 0 + (SELECT COUNT(*) FROM package t WHERE t.parent = $1 AND (t.uses > 0 AND t.root = $2));
SELECT t.uid, t.ecosystem, t.name, t.create_time
  FROM package t
  WHERE t.parent = $1
  AND (t.uses > 0 AND t.root = $2)
  ORDER BY t.name, t.uid LIMIT $3;

-- a list with a filter
SELECT 0 + (SELECT COUNT(*) FROM package t WHERE t.parent = $1 AND t.search LIKE $2 ESCAPE '\' AND (t.uses > 0 AND t.root = $3));
SELECT t.uid, t.ecosystem, t.name, t.create_time
  FROM package t
  WHERE t.parent = $1
  AND t.search LIKE $2 ESCAPE '\'
  AND (t.uses > 0 AND t.root = $3)
  ORDER BY t.name, t.uid LIMIT $4;

-- SQLITE

-- a list
SELECT 0 + (SELECT COUNT(*) FROM package t WHERE t.parent = ?1 AND (t.uses > 0 AND t.root = ?2));
SELECT t.uid, t.ecosystem, t.name, t.create_time
  FROM package t
  WHERE t.parent = ?1
  AND (t.uses > 0 AND t.root = ?2)
  ORDER BY t.name, t.uid LIMIT ?3;

-- a list with a filter
SELECT 0 + (SELECT COUNT(*) FROM package t WHERE t.parent = ?1 AND t.search LIKE ?2 ESCAPE '\' AND (t.uses > 0 AND t.root = ?3));
SELECT t.uid, t.ecosystem, t.name, t.create_time
  FROM package t
  WHERE t.parent = ?1
  AND t.search LIKE ?2 ESCAPE '\'
  AND (t.uses > 0 AND t.root = ?3)
  ORDER BY t.name, t.uid LIMIT ?4;

