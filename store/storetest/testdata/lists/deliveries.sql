-- POSTGRES

-- a list
SELECT 0 + (SELECT COUNT(*) FROM delivery t WHERE t.root = $1);
SELECT t.uid, t.event_id, t.event_type, t.events, t.state, t.stage, t.ticket, t.lease_time, t.attempts, t.last_status, t.last_error, t.last_answer, t.last_attempt_time, t.next_attempt_time, t.create_time, t.update_time
  FROM delivery t
  WHERE t.root = $1
  ORDER BY t.create_time DESC, t.uid DESC LIMIT $2;

-- lists of 2 parents
SELECT p.i, t.uid, t.event_id, t.event_type, t.events, t.state, t.stage, t.ticket, t.lease_time, t.attempts, t.last_status, t.last_error, t.last_answer, t.last_attempt_time, t.next_attempt_time, t.create_time, t.update_time
  FROM unnest($1::bytea[]) WITH ORDINALITY p(k, i)
  CROSS JOIN LATERAL (SELECT t.uid, t.event_id, t.event_type, t.events, t.state, t.stage, t.ticket, t.lease_time, t.attempts, t.last_status, t.last_error, t.last_answer, t.last_attempt_time, t.next_attempt_time, t.create_time, t.update_time FROM delivery t WHERE t.parent = p.k ORDER BY t.create_time DESC, t.uid DESC LIMIT $2 OFFSET $3) t;
SELECT p.i, (SELECT COUNT(*) FROM delivery t WHERE t.parent = p.k)
  FROM unnest($1::bytea[]) WITH ORDINALITY p(k, i);

-- a list with a filter
SELECT 0 + (SELECT COUNT(*) FROM delivery t WHERE t.root = $1 AND t.state = $2);
SELECT t.uid, t.event_id, t.event_type, t.events, t.state, t.stage, t.ticket, t.lease_time, t.attempts, t.last_status, t.last_error, t.last_answer, t.last_attempt_time, t.next_attempt_time, t.create_time, t.update_time
  FROM delivery t
  WHERE t.root = $1
  AND t.state = $2
  ORDER BY t.create_time DESC, t.uid DESC LIMIT $3;

-- SQLITE

-- a list
SELECT 0 + (SELECT COUNT(*) FROM delivery t WHERE t.root = ?1);
SELECT t.uid, t.event_id, t.event_type, t.events, t.state, t.stage, t.ticket, t.lease_time, t.attempts, t.last_status, t.last_error, t.last_answer, t.last_attempt_time, t.next_attempt_time, t.create_time, t.update_time
  FROM delivery t
  WHERE t.root = ?1
  ORDER BY t.create_time DESC, t.uid DESC LIMIT ?2;

-- lists of 2 parents
SELECT p.i, t.uid, t.event_id, t.event_type, t.events, t.state, t.stage, t.ticket, t.lease_time, t.attempts, t.last_status, t.last_error, t.last_answer, t.last_attempt_time, t.next_attempt_time, t.create_time, t.update_time
  FROM (SELECT j.key + 1 AS i, unhex(j.value ->> 0) AS k FROM json_each(?1) j) p
  CROSS JOIN delivery t ON t.rowid IN (SELECT t.rowid FROM delivery t WHERE t.parent = p.k ORDER BY t.create_time DESC, t.uid DESC LIMIT ?2 OFFSET ?3);
SELECT p.i, (SELECT COUNT(*) FROM delivery t WHERE t.parent = p.k)
  FROM (SELECT j.key + 1 AS i, unhex(j.value ->> 0) AS k FROM json_each(?1) j) p;

-- a list with a filter
SELECT 0 + (SELECT COUNT(*) FROM delivery t WHERE t.root = ?1 AND t.state = ?2);
SELECT t.uid, t.event_id, t.event_type, t.events, t.state, t.stage, t.ticket, t.lease_time, t.attempts, t.last_status, t.last_error, t.last_answer, t.last_attempt_time, t.next_attempt_time, t.create_time, t.update_time
  FROM delivery t
  WHERE t.root = ?1
  AND t.state = ?2
  ORDER BY t.create_time DESC, t.uid DESC LIMIT ?3;

