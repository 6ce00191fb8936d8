package main

// adminCommands are the commands of operators: those that need the database, or the machine of the server.
type adminCommands struct {
	Bootstrap bootstrapCommand `cmd:"" help:"Create an organization with its first owner."`
	Config    configCommand    `cmd:"" help:"Check the configuration of a server and print it, with secrets hidden."`
	Status    statusCommand    `cmd:"" help:"Print the state of the database, and the problems that need your attention."`
	Migrate   struct {
		Up     migrateUpCommand     `cmd:"" help:"Apply all pending migrations."`
		Status migrateStatusCommand `cmd:"" help:"List the migrations and whether they are applied."`
	} `cmd:"" help:"Manage schema migrations."`
	Import struct {
		OCI       importOCICommand       `cmd:"" name:"oci" help:"Import repos, tags and images from OCI registries."`
		KEV       importKEVCommand       `cmd:"" name:"kev" help:"Import the CISA KEV catalog (known exploited vulnerabilities)."`
		EPSS      importEPSSCommand      `cmd:"" name:"epss" help:"Import EPSS scores from FIRST (how likely vulnerabilities are exploited)."`
		Artifacts importArtifactsCommand `cmd:"" help:"Import libraries and their versions from JSON lines."`
	} `cmd:"" help:"Import registries, and data that all organizations share."`
	Export struct {
		VEX   exportVEXCommand   `cmd:"" name:"vex" help:"Print the decisions about findings as a VEX document."`
		Audit exportAuditCommand `cmd:"" help:"Print the audit log as JSON lines."`
	} `cmd:"" help:"Export decisions and the audit log."`
	Feeds struct {
		Run feedsRunCommand `cmd:"" help:"Make the servers read feeds now."`
	} `cmd:"" help:"Manage the feeds that servers read for all organizations."`
	Issuers struct {
		List   issuersListCommand   `cmd:"" help:"List the issuers that organizations have proven, and the issuers that still need a proof."`
		Allow  issuersAllowCommand  `cmd:"" help:"Let an organization admit callers of an issuer without a proof."`
		Revoke issuersRevokeCommand `cmd:"" help:"Revoke the proof of an organization for an issuer."`
	} `cmd:"" help:"Manage which organizations may admit callers of which issuers."`
	Backup     backupCommand     `cmd:"" help:"Copy a SQLite database into a file while it is in use."`
	Restore    restoreCommand    `cmd:"" help:"Replace a SQLite database with a backup."`
	Repair     repairCommand     `cmd:"" help:"Check a database that was restored, and repair it."`
	Recount    recountCommand    `cmd:"" help:"Recompute the counters of the database."`
	RotateKeys rotateKeysCommand `cmd:"" help:"Create a new key to seal page tokens; existing tokens stay valid."`

	ChangeEncryptionKey changeEncryptionKeyCommand `cmd:"" help:"Encrypt the secrets in the database with another key."`

	Bench benchCommand `cmd:"" help:"Measure the performance of a server on this machine, in a throwaway database."`
}

// Help returns the detailed help.
func (*adminCommands) Help() string {
	return `These commands open the database of a server, with --database-url, and need no token. Run them on the machine of the server, or on another
machine that can reach the database.`
}
