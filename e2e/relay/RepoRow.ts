// A fragment that fetches itself anew by the node's id.
graphql`
  fragment RepoRow on Repo @refetchable(queryName: "RepoRowRefetchQuery") {
    id
    uid
    name
    description
  }
`;
