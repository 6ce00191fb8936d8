package platform

// Tables are the tables of the database by area, and the queries beside them. They have no state: each call names the
// store or the transaction that it goes through. The store makes them.
type Tables struct {
	IAM       IAMTables
	Inventory InventoryTables
	Libraries LibraryTables
	Events    EventQueries
	Webhooks  SubscriptionTables
	Secrets   KeyQueries
	Search    SearchQueries
}
