// A mutation that takes what it deleted out of lists.
graphql`
  mutation RepoDeleteMutation($input: DeleteRepoInput!, $connections: [ID!]!) {
    deleteRepo(input: $input) {
      deletedId @deleteEdge(connections: $connections) @deleteRecord
    }
  }
`;
