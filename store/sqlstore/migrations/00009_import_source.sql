-- Where an import brought a tag from, so that pruning one source leaves the
-- tags of others alone. Of tags from before, the next import notes it.
ALTER TABLE tag ADD COLUMN source {text} NOT NULL DEFAULT '';
CREATE INDEX tag_parent_source ON tag (parent, source) WHERE source <> '';
