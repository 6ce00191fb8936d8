-- What organisations have proven of issuers: see platform/issuer.go. An issuer
-- that begins with chr(1) stands for those of a host, or for all.
CREATE TABLE issuer_proof (
    root {text} NOT NULL REFERENCES grp (uid) ON DELETE CASCADE,
    issuer {text} NOT NULL,
    method {text} NOT NULL,
    verify_time {time},
    check_time {time},
    PRIMARY KEY (issuer, root)
);
CREATE INDEX issuer_proof_root ON issuer_proof (root);
CREATE INDEX issuer_proof_due ON issuer_proof (check_time) WHERE method = 'file';

-- Whom a provider has let in before still comes in; nobody new does without a
-- proof.
INSERT INTO issuer_proof (root, issuer, method) SELECT DISTINCT root, issuer, 'upgrade' FROM identity_provider WHERE issuer <> '';
DROP INDEX identity_provider_issuer;
CREATE INDEX identity_provider_issuer ON identity_provider (issuer, root, uid);

-- Rules are found by an organisation too. Of those of one key an organisation
-- keeps its 20 oldest; tokens do not find the others until they are written
-- again. Rules with patterns get their new keys after this file.
CREATE INDEX identity_match_root ON identity (match_rule, root);
{postgres}UPDATE identity SET match_rule = '' WHERE position(chr(1) IN match_rule) = 0 AND uid IN (
{sqlite}UPDATE identity SET match_rule = '' WHERE instr(match_rule, char(1)) = 0 AND uid IN (
    SELECT uid FROM (SELECT uid, row_number() OVER (PARTITION BY root, match_rule ORDER BY create_time, uid) AS place FROM identity WHERE match_rule <> '') t WHERE place > 20
);
