// This file shows how findings came and went below a group, or in a repo.

import { Columns } from './chart';
import { useData, useDaysAgo } from './client';
import { OverTime as OverTimeDocument, type OverTimeQuery, type RatedFragment, type SeverityRating } from './generated/graphql';
import { Card, Empty, Lines, NotShown, Problems, Severity } from './ui';
import { count, plural, ratings, sentence, utcDayOf } from './words';

const weeksShown = 26, recentWeeks = 4;
type Week = NonNullable<OverTimeQuery['remediationActivity']>[number];

const keyOf = (rating: SeverityRating) => rating.toLowerCase() as 'critical';

/** This part has the charts of the last 26 weeks, and how long fixes took. */
export function OverTime({ uid, name }: { uid: string; name: string }) {
  const loaded = useData(OverTimeDocument, { uid, from: useDaysAgo(7 * (weeksShown - 1)) }), { data } = loaded;
  if (!data) return loaded.loading ? <Waiting /> : <Problems loaded={loaded} />;
  const { findingActivity: open, remediationActivity: changes, dated } = data, overdue = data.findingSummary?.overdue;
  if (!open || !changes) return <Problems loaded={loaded} />;
  const opened = sumOf(changes, 'opened'), fixed = sumOf(changes, 'fixed'), lately = changes.slice(-recentWeeks);
  if (opened + fixed === 0 && open.every((week) => week.open.total === 0)) return <div className="card"><Empty title="No findings yet">Nothing was found in the images of {name} in the last {weeksShown} weeks. The packages of an image come from its SBOM: see <a href="/guide/importing">importing</a>.</Empty></div>;
  return (
    <div className="grid">
      <Card title="Summary" className="wide-12">
        <p className="told small">In the last {recentWeeks} weeks <b>{count(sumOf(lately, 'opened'))}</b> appeared and <b>{count(sumOf(lately, 'fixed'))}</b> were fixed. {overdue !== undefined && dated && (dated.totalCount === 0 ? 'No open finding has a due date.' : <><b>{count(overdue)}</b> of {plural(dated.totalCount, 'open finding')} with a due date {overdue === 1 ? 'is' : 'are'} overdue.</>)}</p>
        <p className="dim note">A vulnerability of a package counts once in each repo, however many images have it. Findings that were open for less than an hour do not count, and neither do findings that are not affected.</p>
      </Card>
      <Card title="Open" className="wide-12"><Weekly label="Open at the end of each week" weeks={open.map(({ time, open: counts }) => ({ time, counts }))} /></Card>
      <Card title="Appeared" className="wide-6"><Weekly label="Appeared in each week" weeks={changes.map(({ time, opened: counts }) => ({ time, counts }))} /></Card>
      <Card title="Fixed" className="wide-6"><Weekly label="Fixed in each week" weeks={changes.map(({ time, fixed: counts }) => ({ time, counts }))} /></Card>
      <Card title="Time to fix" className="wide-12">{fixed === 0 ? <Empty title="Nothing was fixed">When a newer image no longer has a vulnerability, this table shows how long the fix took.</Empty> : <TimesToFix weeks={changes} />}</Card>
      {overdue === undefined && <NotShown what="overdue findings" />}
    </div>
  );
}

/** This part takes the place of the charts until they are there. */
function Waiting() {
  return (
    <div className="grid">
      <Card title="Summary" className="wide-12"><Lines rows={2} height={40} /></Card>
      <Card title="Open" className="wide-12"><Lines rows={5} height={40} /></Card>
      <Card title="Appeared" className="wide-6"><Lines rows={5} height={40} /></Card>
      <Card title="Fixed" className="wide-6"><Lines rows={5} height={40} /></Card>
      <Card title="Time to fix" className="wide-12"><Lines rows={5} height={40} /></Card>
    </div>
  );
}

const sumOf = (weeks: Week[], what: 'opened' | 'fixed') => weeks.reduce((sum, week) => sum + week[what].total, 0);

function Weekly({ label, weeks }: { label: string; weeks: { time: string; counts: RatedFragment }[] }) {
  const shown = ratings.filter((rating) => !['NONE', 'UNKNOWN'].includes(rating) || weeks.some(({ counts }) => counts[keyOf(rating)] > 0));
  return <Columns label={label} kinds={shown.map((rating) => ({ name: sentence(rating), className: keyOf(rating) }))}
    columns={weeks.map(({ time, counts }, i) => ({ time, name: i === weeks.length - 1 ? 'This week' : `Week of ${utcDayOf(time)}`, parts: shown.map((rating) => counts[keyOf(rating)]) }))} />;
}

/** Returns how many of a rating were fixed in some weeks, and in how many days on the mean. */
function fixedOf(weeks: Week[], rating: SeverityRating): { fixed: number; days?: number } {
  const times = weeks.flatMap(({ timesToFix }) => timesToFix.filter((one) => one.rating === rating)), fixed = times.reduce((sum, one) => sum + one.count, 0);
  return { fixed, ...(fixed > 0 && { days: times.reduce((sum, one) => sum + one.meanDays * one.count, 0) / fixed }) };
}

function TimesToFix({ weeks }: { weeks: Week[] }) {
  const rows = ratings.map((rating) => ({ rating, all: fixedOf(weeks, rating), late: fixedOf(weeks.slice(-recentWeeks), rating) })).filter(({ all }) => all.fixed > 0);
  const daysIn = ({ days }: { days?: number }) => (days === undefined ? '–' : days < 1 ? 'less than a day' : plural(Math.round(days), 'day'));
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Time to fix, by severity"><table className="numbers">
      <thead><tr><th scope="col">Severity</th><th scope="col">Fixed, last {recentWeeks} weeks</th><th scope="col">Mean time</th><th scope="col">Fixed, {weeks.length} weeks</th><th scope="col">Mean time</th></tr></thead>
      <tbody>{rows.map(({ rating, all, late }) => <tr key={rating}><th scope="row"><Severity rating={rating} /></th><td>{count(late.fixed)}</td><td>{daysIn(late)}</td><td>{count(all.fixed)}</td><td>{daysIn(all)}</td></tr>)}</tbody>
    </table></div>
  );
}
