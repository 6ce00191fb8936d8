// Many nodes by their ids.
graphql`
  query RepoNodesQuery($ids: [ID!]!) {
    nodes(ids: $ids) {
      __typename
      ...RepoRow @alias(as: "repo")
    }
  }
`;
