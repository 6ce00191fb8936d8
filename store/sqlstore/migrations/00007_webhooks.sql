-- A process that delivers, by the name it holds deliveries under. It counts
-- beats up while it is there.
CREATE TABLE replica (
    id {text} PRIMARY KEY,
    beats BIGINT NOT NULL
);

-- Whoever attempts a delivery does so by a ticket of this number. It goes up
-- when the delivery is handed out anew, so that older tickets are good no more.
ALTER TABLE delivery ADD COLUMN ticket BIGINT NOT NULL DEFAULT 0;

-- Denials that are equal within a minute share the row of the first: denial
-- names what they have in common, times is how many there were.
ALTER TABLE event ADD COLUMN times BIGINT NOT NULL DEFAULT 1;
ALTER TABLE event ADD COLUMN denial {text};
CREATE UNIQUE INDEX event_denial ON event (denial) WHERE denial IS NOT NULL;
