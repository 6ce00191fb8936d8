import { AtriumError, type Client } from '@atrium/client';
import { useCallback, useEffect, useRef, useState } from 'react';
import { graphql } from './gql';
import type { FindingFilter, FindingsQuery } from './gql/graphql';

const findingsDocument = graphql(`
  query Findings($where: FindingFilter, $first: Int!, $after: String) {
    feedPosition
    findings(where: $where, first: $first, after: $after, orderBy: [{ field: SEVERITY }]) {
      totalCount
      pageInfo { hasNextPage endCursor }
      nodes {
        uid vulnerabilityId package installedVersion fixedVersions knownExploited state justification note expireTime
        severity { rating score }
        repo { uid name }
      }
    }
  }
`);

const liveDocument = graphql(`
  subscription Live($after: String) {
    events(after: $after, kinds: [VULNERABILITIES_FINDING_OPENED, VULNERABILITIES_FINDING_RESOLVED, VULNERABILITIES_FINDING_CHANGED]) {
      id
      kind
      detail { ... on FindingChange { repoName count findings { uid vulnerabilityId } } }
    }
  }
`);

export type Finding = FindingsQuery['findings']['nodes'][number];
const pageSize = 10, mostRows = 200;

/** Says what is wrong, for people. */
export const say = (problem: unknown) => (problem instanceof AtriumError ? problem.message : String(problem));

/** What the list has. */
export interface List {
  rows: Finding[];
  total: number;
  more: boolean;
  problem?: string;
}

/** Reads the findings that match a filter, which is JSON, a page at a time, and keeps what was read as it is now. */
export function useFindings(atrium: Client, filter: string) {
  const [list, setList] = useState<List>(), [live, setLive] = useState(false), [news, setNews] = useState<string>();
  const end = useRef<string | null | undefined>(undefined), loaded = useRef(pageSize), latest = useRef(0);

  /** Reads the first rows again, or those after the last one. Only the newest of several reads counts. Returns the position of the feed before it. */
  const read = useCallback(async (first: number, after?: string | null) => {
    const turn = ++latest.current;
    try {
      const { feedPosition, findings } = await atrium.graphql(findingsDocument, { where: JSON.parse(filter) as FindingFilter, first, after });
      if (turn !== latest.current) return feedPosition;
      end.current = findings.pageInfo.endCursor;
      setList((old) => ({ rows: after ? [...old?.rows ?? [], ...findings.nodes] : findings.nodes, total: findings.totalCount, more: findings.pageInfo.hasNextPage }));
      return feedPosition;
    } catch (problem) {
      if (turn === latest.current) setList((old) => ({ rows: [], total: 0, more: false, ...old, problem: say(problem) }));
      return undefined;
    }
  }, [atrium, filter]);

  // A page that is read together with the position of the feed, and then follows the feed from there, misses no change.
  useEffect(() => {
    const stop = new AbortController();
    loaded.current = pageSize;
    void (async () => {
      const after = await read(pageSize);
      if (!after || stop.signal.aborted) return;
      try {
        for await (const { events: { kind, detail } } of atrium.subscribe(liveDocument, { after }, { signal: stop.signal, onConnection: setLive })) {
          if (detail && 'count' in detail) {
            const what = { VULNERABILITIES_FINDING_OPENED: 'opened', VULNERABILITIES_FINDING_RESOLVED: 'resolved' }[kind as string] ?? 'changed';
            setNews(`${detail.count} ${detail.count === 1 ? 'finding' : 'findings'} ${what} in ${detail.repoName ?? 'a repo'}: ${detail.findings.map(({ vulnerabilityId }) => vulnerabilityId).slice(0, 3).join(', ')}`);
          }
          await read(Math.min(loaded.current, mostRows));
        }
      } catch (problem) {
        if (!stop.signal.aborted) setNews(`no live changes: ${say(problem)}`);
      }
    })();
    return () => stop.abort();
  }, [atrium, read]);

  const readMore = useCallback(async () => {
    loaded.current += pageSize;
    await read(pageSize, end.current);
  }, [read]);
  return { list, live, news, readMore, reread: () => read(Math.min(loaded.current, mostRows)) };
}
