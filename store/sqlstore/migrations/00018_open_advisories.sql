-- The open advisories by severity, without those that are withdrawn, fixed or found
-- to be false positives. In most organisations these are many times as many. Their
-- classes are 1, 4, 7 and so on.
CREATE INDEX advisory_root_open ON advisory (root, severity, uid) WHERE count_class % 3 = 1;
CREATE INDEX advisory_g2_open ON advisory (g2, severity, uid) WHERE g2 IS NOT NULL AND count_class % 3 = 1;
CREATE INDEX advisory_g3_open ON advisory (g3, severity, uid) WHERE g3 IS NOT NULL AND count_class % 3 = 1;
