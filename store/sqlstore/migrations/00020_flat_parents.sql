-- The tags of a repo in the order of their UIDs are a range of the primary key, because a
-- repo contains no other repos. The same holds for the versions of an artifact and the
-- mappings of an identity provider.
DROP INDEX tag_parent_uid;
DROP INDEX artifact_version_parent_uid;
DROP INDEX external_group_role_mapping_parent_uid;
