// A list of a node, which pages by the node's id.
graphql`
  fragment GroupRepos on Group
  @argumentDefinitions(count: { type: "Int", defaultValue: 10 }, cursor: { type: "String" })
  @refetchable(queryName: "GroupReposPaginationQuery") {
    repos(first: $count, after: $cursor) @connection(key: "GroupRepos_repos") {
      edges { node { ...RepoRow } }
    }
  }
`;
graphql`
  query GroupReposQuery($id: ID!) {
    node(id: $id) {
      __typename
      ...GroupRepos @alias(as: "group")
    }
  }
`;
