package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"atrium/platform"
)

// mostOfKey is how many rules of one key an organisation kept at migration 6,
// as its file says too; a later program may allow another number.
const mostOfKey = 20

// A patternRule is a row whose key comes from a pattern.
type patternRule struct{ uid, root, key string }

// rekeyPatterns is migration 6. It computes the keys of rules with patterns, for which
// expressions must be parsed.
func rekeyPatterns(ctx context.Context, tx *sql.Tx, dialect *Dialect) error {
	rules, err := patternRules(ctx, tx, dialect)
	if err != nil {
		return err
	}
	update := fmt.Sprintf("UPDATE identity SET match_rule = %[1]s1 WHERE uid = %[1]s2", dialect.Placeholder)
	found := map[patternRule]int{}
	for _, rule := range rules {
		same := patternRule{"", rule.root, rule.key}
		if found[same]++; found[same] > mostOfKey {
			rule.key = ""
		}
		if _, err := tx.ExecContext(ctx, update, rule.key, rule.uid); err != nil {
			return err
		}
	}
	return nil
}

// patternRules reads the rows of patternRule, the oldest first, with their new keys.
func patternRules(ctx context.Context, tx *sql.Tx, dialect *Dialect) ([]patternRule, error) {
	query := "SELECT uid, root, claim_match FROM identity WHERE match_rule LIKE " + dialect.Placeholder + "1 ORDER BY create_time, uid"
	rows, err := tx.QueryContext(ctx, query, "%"+platform.PatternMark+"%")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var rules []patternRule
	for rows.Next() {
		var rule patternRule
		var text string
		if err := rows.Scan(&rule.uid, &rule.root, &text); err != nil {
			return nil, err
		}
		var match platform.ClaimMatch
		if err := json.Unmarshal([]byte(text), &match); err != nil {
			return nil, fmt.Errorf("the rule of the identity %s: %w", rule.uid, err)
		}
		rule.key = ruleText(match.Key())
		rules = append(rules, rule)
	}
	return rules, rows.Err()
}
