// A subscription.
graphql`
  subscription LiveEventsSubscription($after: String) {
    events(after: $after) {
      id
      type
      subject
    }
  }
`;
