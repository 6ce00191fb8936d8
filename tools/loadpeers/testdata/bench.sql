-- These are the tables of the benchmark that compares servers, with a few rows.
DROP SCHEMA public CASCADE;
CREATE SCHEMA public;
CREATE TABLE groups (uid text PRIMARY KEY, parent text, name text NOT NULL, description text NOT NULL, create_time timestamptz NOT NULL, update_time timestamptz NOT NULL);
CREATE TABLE identities (uid text PRIMARY KEY, group_uid text NOT NULL, name text NOT NULL, description text NOT NULL, issuer text NOT NULL, subject text NOT NULL, create_time timestamptz NOT NULL, update_time timestamptz NOT NULL);
CREATE TABLE roles (uid text PRIMARY KEY, name text NOT NULL, description text NOT NULL);
CREATE TABLE role_bindings (uid text PRIMARY KEY, identity_uid text NOT NULL, group_uid text NOT NULL, role_uid text NOT NULL, create_time timestamptz NOT NULL);
CREATE TABLE repos (uid text PRIMARY KEY, parent text NOT NULL, name text NOT NULL, description text NOT NULL, create_time timestamptz NOT NULL, update_time timestamptz NOT NULL);
CREATE TABLE tags (uid text PRIMARY KEY, repo_uid text NOT NULL, name text NOT NULL, digest text NOT NULL, deprecated boolean NOT NULL, update_time timestamptz NOT NULL);
CREATE TABLE advisories (uid text PRIMARY KEY, advisory_id text NOT NULL, artifact_name text NOT NULL, update_time timestamptz NOT NULL);

INSERT INTO groups VALUES
  ('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/0000000000000002', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'catalog', '', '2022-03-01', '2022-03-02'),
  ('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', NULL, 'big.example.com', '', '2022-03-01', '2022-03-02');
INSERT INTO roles VALUES ('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/0000000000000003', 'viewer', '');
INSERT INTO identities VALUES
  ('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/0000000000000004', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'ident-1', '', 'https://issuer.example.com', 'one', '2022-03-01', '2022-03-02'),
  ('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/0000000000000001', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'zz-caller', '', 'https://issuer.dev.atrium.invalid', 'owner', '2022-03-01', '2022-03-02');
INSERT INTO role_bindings VALUES
  ('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/0000000000000002/0000000000000004', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/0000000000000004', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/0000000000000002', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/0000000000000003', '2022-03-01'),
  ('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/ffffffffffffffff', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/0000000000000001', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/0000000000000003', '2022-03-01');
INSERT INTO repos VALUES
  ('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/0000000000000002/0000000000000005', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/0000000000000002', 'api', '', '2022-03-01', '2022-03-02'),
  ('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/0000000000000002/0000000000000006', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/0000000000000002', 'web', '', '2022-03-01', '2022-03-02');
INSERT INTO tags VALUES
  ('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/0000000000000002/0000000000000005/0000000000000001', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/0000000000000002/0000000000000005', 'latest', 'sha256:0000000000000000000000000000000000000000000000000000000000000000', false, '2022-03-01'),
  ('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/0000000000000002/0000000000000005/0000000000000002', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/0000000000000002/0000000000000005', '1.0', 'sha256:0000000000000000000000000000000000000000000000000000000000000000', true, '2022-03-01'),
  ('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/0000000000000002/0000000000000006/0000000000000001', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/0000000000000002/0000000000000006', 'latest', 'sha256:1111111111111111111111111111111111111111111111111111111111111111', false, '2022-03-01');
INSERT INTO advisories VALUES
  ('cccccccccccccccccccccccccccccccccccccccc/0000000000000001', 'CGA-0001', 'api', '2022-03-01'),
  ('cccccccccccccccccccccccccccccccccccccccc/0000000000000002', 'CGA-0002', 'web', '2022-03-01');
