// A mutation that appends what it created to a list.
graphql`
  mutation RepoCreateMutation($input: CreateRepoInput!, $connections: [ID!]!) {
    createRepo(input: $input) {
      repoEdge @appendEdge(connections: $connections) {
        node { ...RepoRow }
      }
    }
  }
`;
