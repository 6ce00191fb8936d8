// A list that pages forward.
graphql`
  fragment RepoList on Query
  @argumentDefinitions(count: { type: "Int", defaultValue: 10 }, cursor: { type: "String" })
  @refetchable(queryName: "RepoListPaginationQuery") {
    repos(first: $count, after: $cursor) @connection(key: "RepoList_repos") {
      edges { node { ...RepoRow } }
    }
  }
`;
graphql`
  query RepoListQuery {
    ...RepoList
  }
`;
