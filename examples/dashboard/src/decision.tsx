import { AtriumError, type Client } from '@atrium/client';
import { useActionState } from 'react';
import { type Finding, say } from './data';
import { graphql } from './gql';
import type { FindingDecision, VexJustification } from './gql/graphql';

const decideDocument = graphql(`
  mutation Decide($input: UpdateFindingsInput!) {
    updateFindings(input: $input) { updatedCount }
  }
`);

/** What somebody decides about a finding. */
export type Decision = Pick<Finding, 'state' | 'note' | 'justification'>;

const decisions: FindingDecision[] = ['OPEN', 'IN_TRIAGE', 'ACCEPTED', 'NOT_AFFECTED'];
const justifications: VexJustification[] = [
  'COMPONENT_NOT_PRESENT', 'VULNERABLE_CODE_NOT_PRESENT', 'VULNERABLE_CODE_NOT_IN_EXECUTE_PATH', 'VULNERABLE_CODE_CANNOT_BE_CONTROLLED_BY_ADVERSARY', 'INLINE_MITIGATIONS_ALREADY_EXIST',
];

/** What is wrong with the fields of the form, by name, and with all of it. */
type Faults = Record<string, string>;

/** Asks for a decision about a finding, shows it before the server has answered, and shows what the server refuses beside the fields. */
export function DecisionForm({ atrium, finding, onDecide, onDone }: {
  atrium: Client; finding: Finding; onDecide: (decision: Decision) => void; onDone: () => Promise<void>;
}) {
  const [faults, act, busy] = useActionState(async (_: Faults, form: FormData): Promise<Faults> => {
    const text = (name: string) => String(form.get(name) ?? '').trim() || null;
    const state = text('state') as FindingDecision, justification = text('justification') as VexJustification | null, note = text('note'), until = text('expireTime');
    onDecide({ state, justification, note });
    try {
      const input = { uids: [finding.uid], state, justification, note, expireTime: until && new Date(until).toISOString() };
      await atrium.graphql(decideDocument, { input: Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null)) });
      await onDone();
      return {};
    } catch (problem) {
      // The path of a violation leads to the member of the input: ['input', 'justification'].
      const fields = problem instanceof AtriumError ? problem.fields.map(({ path, message }) => [String(path?.[1] ?? ''), message] as const) : [];
      return fields.length > 0 ? Object.fromEntries(fields) : { '': say(problem) };
    }
  }, {});
  const fault = (name: string) => (faults[name] ? <strong role="alert" className="fault">{faults[name]}</strong> : null);
  const shown = ['state', 'justification', 'note', 'expireTime'];

  return (
    <form className="panel" action={act}>
      <label>State <select name="state" defaultValue={decisions.includes(finding.state as FindingDecision) ? finding.state : 'OPEN'}>{decisions.map((one) => <option key={one}>{one}</option>)}</select> {fault('state')}</label>
      <label>Why it is not affected <select name="justification" defaultValue=""><option value="" />{justifications.map((one) => <option key={one}>{one}</option>)}</select> {fault('justification')}</label>
      <label>Note <input name="note" defaultValue={finding.note ?? ''} /> {fault('note')}</label>
      <label>Until <input name="expireTime" type="date" /> {fault('expireTime')}</label>
      {Object.entries(faults).filter(([name]) => !shown.includes(name)).map(([name, message]) => <strong role="alert" key={name}>{message}</strong>)}
      <button disabled={busy}>Save</button>
    </form>
  );
}
