// A mutation that removes what it deleted from lists.
graphql`
  mutation RepoDeleteMutation($input: DeleteRepoInput!, $connections: [ID!]!) {
    deleteRepo(input: $input) {
      deletedId @deleteEdge(connections: $connections) @deleteRecord
    }
  }
`;
