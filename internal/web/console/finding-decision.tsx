// This file has the form that decides about findings. It says what was decided, and takes it back.

import { ChooseAssignee, nameOfAssignee, nobody } from './assignee';
import { useClient } from 'urql';
import { useChange, type Outcome } from './client';
import { followDecision } from './finding-progress';
import { FormButton, reasonAgainst, type Field, type Holding, type Values } from './form';
import { UpdateFindings, type FindingFilter, type FindingRowFragment, type FindingState, type UpdateFindingsInput, type UpdateFindingsMutation, type VexJustification } from './generated/graphql';
import { say, type Message } from './said';
import { count, fieldOfTime, formatEnd, plural, sentence, timeOfField } from './words';

export const nameOfPackage = (finding: Pick<FindingRowFragment, 'package' | 'digest'>) => (finding.package === finding.digest ? 'the image itself' : finding.package);

export const stateNames: Record<FindingState, string> = { OPEN: 'Open', IN_TRIAGE: 'In triage', ACCEPTED: 'Accepted', NOT_AFFECTED: 'Not affected', RESOLVED: 'Resolved' };
export const stateKinds: Record<FindingState, string> = { OPEN: 'open', IN_TRIAGE: 'open', ACCEPTED: 'clear', NOT_AFFECTED: 'clear', RESOLVED: 'fixed' };
export const reasonOf = (text: string) => sentence(text.replace(/^TYPE_/, '').toUpperCase());

const justifications: VexJustification[] = ['COMPONENT_NOT_PRESENT', 'VULNERABLE_CODE_NOT_PRESENT', 'VULNERABLE_CODE_NOT_IN_EXECUTE_PATH', 'VULNERABLE_CODE_CANNOT_BE_CONTROLLED_BY_ADVERSARY', 'INLINE_MITIGATIONS_ALREADY_EXIST'];

/** Returns the fields of the form. What the reader does not change is not sent, and the decision is sent as a whole. */
const fieldsFrom = (start: Values, root: string, now: { uid: string; name: string }[]): Field[] => [
  { name: 'state', label: 'State', unit: 'decision', hint: 'Your decision replaces any earlier one.', nothing: 'No change', needed: (values) => ['note', 'assignee', 'dueTime'].every((name) => values[name] === start[name]), choices: (['IN_TRIAGE', 'ACCEPTED', 'NOT_AFFECTED', 'OPEN'] as const).map((value) => ({ value, name: { IN_TRIAGE: 'In triage: somebody is investigating', ACCEPTED: 'Accepted: the risk is acceptable', NOT_AFFECTED: 'Not affected after all', OPEN: 'Open: withdraw the decision' }[value] })) },
  { name: 'justification', label: 'Reason', unit: 'decision', hint: 'One of the justifications that VEX defines.', choices: justifications.map((value) => ({ value, name: reasonOf(value) })), shown: ({ state }) => state === 'NOT_AFFECTED', needed: ({ state }) => state === 'NOT_AFFECTED' },
  { name: 'note', label: 'Note', unit: 'decision', hint: 'Why you decided this, for anyone who reads it later.' },
  { name: 'expireTime', label: 'Until', unit: 'decision', hint: 'At this time the findings are open again. Without a time, the decision does not end.', shown: ({ state }) => state !== 'OPEN' && state !== '' },
  { name: 'assignee', label: 'Assigned to', unit: 'assignee', hint: 'The person who handles it. This is separate from the decision.', send: (value) => (value === nobody ? null : value || undefined), control: (props) => <ChooseAssignee {...props} root={root} now={now} /> },
  { name: 'dueTime', label: 'Fix by', unit: 'due', hint: 'The due date. It is separate from the decision, and overrides the due policy of the group.', send: (value) => (value === '' ? null : timeOfField(value as string).toISOString()) },
];
const affects = ['Finding', 'FindingConnection', 'FindingSummary'];

type Former = Pick<FindingRowFragment, 'uid' | 'vulnerabilityId' | 'package' | 'digest' | 'state' | 'justification' | 'note' | 'expireTime' | 'assignee' | 'dueTime'>;
type Selection = { uids: string[] } | { within: string; where: FindingFilter; background?: true };

interface DecideProps {
  held: Holding;
  label: string;
  about: string;
  fixed: Selection;
  former?: readonly Former[]; // These are all findings that it is about, as they are now, if the console knows them.
  total?: number; // This is how many findings it is about, if the server decides about them in the background.
  shortcut?: string;
  onDone?: () => void;
}

/** This button decides about findings. The form for one finding begins with what was decided about it. */
export function Decide({ held, label, about, fixed, former, total, shortcut, onDone = () => {} }: DecideProps) {
  const client = useClient(), { run } = useChange(UpdateFindings, affects), only = former?.length === 1 ? former[0] : undefined;
  const start: Values = {
    ...(only && { state: only.state === 'OPEN' ? '' : only.state, justification: isVEX(only) ? only.justification! : '', expireTime: fieldOf(only.expireTime) }),
    note: only?.note ?? '', assignee: former ? sharedBy(former, ({ assignee }) => assignee?.uid ?? nobody) ?? '' : '', dueTime: former ? fieldOf(sharedBy(former, ({ dueTime }) => dueTime)) : '',
  };
  const now = former?.flatMap(({ assignee }) => assignee ?? []) ?? [], fields = fieldsFrom(start, ('within' in fixed ? fixed.within : fixed.uids[0] ?? '').split('/')[0], now);
  const done = ({ updateFindings }: UpdateFindingsMutation, input: UpdateFindingsInput) => {
    const { updatedCount, operation } = updateFindings!;
    if (operation) {
      void followDecision(client, operation.uid, total ?? 0, (n) => tell(n, input));
      onDone();
      return;
    }
    const obstacle = obstacleOf(fixed, former, updatedCount);
    say({ text: `${tell(updatedCount, input, former)}.${obstacle ? ` ${obstacle}` : ''}`, undo: obstacle || !former ? undefined : () => restore(former, input, run) });
    onDone();
  };
  return <FormButton label={label} icon="edit" held={held} reason={reasonAgainst(UpdateFindings, held)} shortcut={shortcut} document={UpdateFindings} title={`Decide about ${about}`} submit="Save the decision" lead={total ? 'The server decides about this many findings in the background. You can stop it, but you cannot undo it.' : undefined} fields={fields} fixed={fixed} start={start} affects={affects} onDone={done} />;
}

const fieldOf = (time: string | null | undefined) => (time ? fieldOfTime(Date.parse(time)) : '');
/** Returns the value that all findings share, or undefined. */
const sharedBy = <Value,>(former: readonly Former[], of: (one: Former) => Value): Value | undefined => (former.length > 0 && former.every((one) => of(one) === of(former[0])) ? of(former[0]) : undefined);
const isVEX = ({ justification }: Former) => justification !== null && justifications.includes(justification as VexJustification);

/** Says in words what was decided about how many findings. */
function tell(n: number, { state, note, expireTime, assignee, dueTime }: UpdateFindingsInput, former: readonly Former[] = []): string {
  const name = sharedBy(former, nameOfPackage) ?? sharedBy(former, ({ vulnerabilityId }) => vulnerabilityId), many = plural(n, 'finding') + (name ? ` of ${name}` : '');
  const what = n === 1 && former.length === 1 ? `${former[0].vulnerabilityId} in ${nameOfPackage(former[0])}` : many, is = n === 1 ? 'is' : 'are', until = expireTime ? ` until ${formatEnd(expireTime)}` : '';
  const decided = { ACCEPTED: `Accepted ${what}${until}`, NOT_AFFECTED: `${what} ${is} not affected${until}`, IN_TRIAGE: `${what} ${is} in triage${until}`, OPEN: `${what} ${is} open again` };
  const further = [
    assignee !== undefined && `assigned to ${assignee ? nameOfAssignee(assignee) : nobody}`, dueTime !== undefined && (dueTime ? `to be fixed by ${formatEnd(dueTime)}` : `without a due date of ${n === 1 ? 'its' : 'their'} own`), !state && note !== undefined && 'with a new note',
  ].filter(Boolean).join(', ');
  return state ? decided[state] + (further && `; ${further}`) : `${what}: ${further}`;
}

/** Returns why a decision cannot be taken back exactly, or nothing. */
function obstacleOf(fixed: Selection, former: readonly Former[] | undefined, n: number): string {
  if (!former) return 'within' in fixed && !fixed.where.states ? 'It also applies to later findings. To withdraw it, decide “Open” here.' : 'You cannot undo this, because the list had not loaded all of them.';
  if (n !== former.length) return 'You cannot undo this, because the list was out of date.';
  // What an advisory says about a finding is no decision, and nobody can set it.
  return former.some((one) => one.justification && !isVEX(one)) ? 'You cannot undo this, because the state of some of them came from an advisory.' : '';
}

/** Sets back what an input has changed. Findings that were alike are set back together. */
async function restore(former: readonly Former[], input: UpdateFindingsInput, run: (input: UpdateFindingsInput) => Promise<Outcome<unknown>>): Promise<Message> {
  const groups = new Map<string, UpdateFindingsInput & { uids: string[] }>();
  for (const one of former) {
    const before = formerOf(one, input), key = JSON.stringify(before), group = groups.get(key) ?? { ...before, uids: [] };
    group.uids.push(one.uid);
    groups.set(key, group);
  }
  let done = 0;
  for (const group of groups.values()) {
    const { data, problems } = await run(group);
    if (!data) return { text: `${done > 0 ? `Only ${count(done)} of ${plural(former.length, 'finding')} were restored` : 'The decision was not undone'}: ${problems[0]?.message}`, refused: true };
    done += group.uids.length;
  }
  return { text: `Undone: ${former.length === 1 ? 'the finding is as it was' : `${plural(former.length, 'finding')} are as they were`}.` };
}

/** Returns the input that gives a finding again what it had before an input. */
function formerOf({ state, note, expireTime, justification, assignee, dueTime }: Former, input: UpdateFindingsInput): UpdateFindingsInput {
  return {
    ...('state' in input ? { state: state as UpdateFindingsInput['state'], note, expireTime, justification: justification as VexJustification | null } : 'note' in input && { note }),
    ...('assignee' in input && { assignee: assignee?.uid ?? null }), ...('dueTime' in input && { dueTime }),
  };
}
