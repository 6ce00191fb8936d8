// Package table reads and writes the rows of tables, each of which a Definition describes: package sqlstore has one for each
// kind. It makes the SQL of lists, changes and totals, which is the same for every engine; what differs is in
// dbconn.Dialect. The files of store/storetest/testdata/lists have the SQL of the lists of each kind.
//
//	table.go       Definition, which says how a kind is stored, and its columns; operations.go has Table,
//	               which does what core.Table can, and source.go the connections that it gets
//	statement.go   builds statements; condition.go adds the conditions of filters
//	list.go        get and list; each.go lists for many parents with one statement, projection.go selects
//	               columns, facet.go counts by values
//	scope.go       finds the rows of a scope; scope_key.go has the keys by which rows of large kinds are found
//	write.go       insert, update and delete; counter.go keeps the totals of lists
//	search.go      search texts; fold.go says which texts are equal
//	uid.go         stores UIDs as bytes; time_column.go reads times
//
// It must know no kind: what holds for one of them is in its Definition.
package table
