// A list that pages backward.
graphql`
  fragment RepoListBackward on Query
  @argumentDefinitions(count: { type: "Int", defaultValue: 10 }, cursor: { type: "String" })
  @refetchable(queryName: "RepoListBackwardPaginationQuery") {
    repos(last: $count, before: $cursor) @connection(key: "RepoListBackward_repos") {
      edges { node { ...RepoRow } }
    }
  }
`;
graphql`
  query RepoListBackwardQuery {
    ...RepoListBackward
  }
`;
