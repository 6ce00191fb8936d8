// A query that handles errors.
graphql`
  query RepoGroupsQuery @throwOnFieldError {
    repos(first: 1) {
      nodes { group { name } tag(name: "latest") { name } }
    }
  }
`;
