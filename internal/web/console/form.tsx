// This file has the forms for changes, and the buttons that open them. The schema says what a field accepts and which capabilities
// a change needs (generated/changes.ts), so that no rule is written here a second time. The server decides in the end, and its
// message appears at the field that it names.

import { useEffect, useId, useLayoutEffect, useRef, useState, type FormEvent, type ReactNode, type RefObject } from 'react';
import { nameOf, useChange, type Problem } from './client';
import { changes, type Rule } from './generated/changes';
import type { TypedDocument } from './generated/graphql';
import { CheckBoxes, Pairs, Span, TimeField, type Choice, type ControlProps, type Value, type Values } from './inputs';
import { askBefore } from './router';
import { bareToken, looksLikeToken, replaceToken, useSession } from './session';
import { settings } from './settings';
import { playgroundAddress } from './show-query';
import { adviceFor, Dialog, Icon, type IconName } from './ui';
import { count, fieldOfTime, plural, sentence, timeOfField } from './words';

export type { Choice, ControlProps, Value, Values };

export interface Field {
  name: string; // This is the name in the input. A field of a nested input has both names, with a dot between them: claimMatch.issuer.
  label: string;
  hint?: ReactNode; // The hint replaces the description of the schema.
  choices?: Choice[]; // A field accepts one of the choices, and a list accepts several.
  nothing?: string; // This is the name of the choice of nothing.
  unit?: string; // Fields of a unit are sent together, and only if the reader has changed one of them.
  send?: (value: Value) => unknown; // It returns what is sent for a value, in place of what the type says.
  placeholder?: string;
  code?: boolean; // It says whether the text is for machines.
  control?: (props: ControlProps) => ReactNode; // This control replaces the control of the type.
  shown?: (values: Values) => boolean; // A field that is not shown counts as empty.
  needed?: (values: Values) => boolean; // It says whether the form needs the field although the schema does not.
  local?: Rule; // A field with this rule belongs to the form only, and is not sent.
}

export interface FormProps<Data, Input> {
  document: TypedDocument<Data, { input: Input }>;
  title: string;
  lead?: ReactNode;
  fields: Field[];
  fixed?: Partial<Input>; // These are the values that the reader does not choose.
  resource?: object; // The form begins with this resource, and sends what differs from it.
  start?: Values; // A new resource begins with these values, by the names of the fields.
  submit: string;
  unique?: string; // Another resource may already have the value of this field.
  affects?: string[]; // The console requests again what it shows of these types.
  below?: (values: Values) => ReactNode; // This content is below the fields, such as what the change will do.
  onDone: (data: Data, input: Input) => void;
}

const blankValue = (rule: Rule): Value => (rule.type === 'yes' ? false : rule.type === 'list' || rule.type === 'pairs' ? [] : '');
const isBlank = (value: Value) => value === '' || value === false || (Array.isArray(value) && value.length === 0);
const readPath = (resource: object | undefined, name: string): unknown => name.split('.').reduce<unknown>((one, part) => (one as Record<string, unknown> | null | undefined)?.[part], resource);

function decode(rule: Rule, given: unknown): Value {
  if (given === null || given === undefined) return blankValue(rule);
  if (rule.type === 'pairs') return Object.entries(given as Record<string, string>);
  if (rule.type === 'list') return given as string[];
  if (rule.type === 'duration') return String(given).replace(/s$/, '');
  if (rule.type === 'time') return fieldOfTime(Date.parse(given as string));
  return rule.type === 'yes' ? Boolean(given) : String(given);
}

function encode(rule: Rule, value: Value): unknown {
  if (isBlank(value)) return undefined;
  switch (rule.type) {
    case 'pairs': return Object.fromEntries((value as [string, string][]).filter(([key]) => key !== ''));
    case 'list': return (value as string[]).filter((line) => line !== '');
    case 'duration': return `${value}s`;
    case 'time': return timeOfField(value as string).toISOString();
    default: return value;
  }
}

/** Returns what is wrong with a value according to the rules of the schema. */
function faultOf(rule: Rule, value: Value): string | undefined {
  if (isBlank(value)) return rule.required ? 'This field is required.' : undefined;
  if (typeof value === 'string' && rule.type === 'duration') {
    if (rule.leastSeconds !== undefined && !(Number(value) >= rule.leastSeconds)) return `At least ${plural(rule.leastSeconds, 'second')}.`;
    if (rule.mostSeconds !== undefined && Number(value) > rule.mostSeconds) return `At most ${plural(rule.mostSeconds / 86_400, 'day')}.`;
  } else if (typeof value === 'string') return faultOfText(rule, value);
  if (!Array.isArray(value)) return;
  if (rule.mostItems !== undefined && value.length > rule.mostItems) return `At most ${count(rule.mostItems)}; you entered ${count(value.length)}.`;
  if (rule.type === 'pairs') return faultOfPairs(value as [string, string][]);
  if (rule.type !== 'list') return;
  for (const [i, line] of (value as string[]).entries()) {
    const fault = faultOfText(rule, line);
    if (fault) return `Line ${i + 1}: ${fault}`;
  }
}

/** Returns what is wrong with pairs. Rows without a name and a value are ignored. */
function faultOfPairs(pairs: [string, string][]): string | undefined {
  for (const [i, [name, value]] of pairs.entries()) {
    if (name === '' && value !== '') return `Row ${i + 1}: This value has no name.`;
    if (name !== '' && pairs.findIndex(([other]) => other === name) < i) return `Row ${i + 1}: The name ${name} is already in use.`;
  }
}

function faultOfText({ most, mostBytes, pattern, words }: Rule, text: string): string | undefined {
  const length = [...text].length, bytes = new TextEncoder().encode(text).length;
  if (most !== undefined && length > most) return `At most ${count(most)} characters; you entered ${count(length)}.`;
  if (mostBytes !== undefined && bytes > mostBytes) return `At most ${count(mostBytes)} bytes; you entered ${count(bytes)}.`;
  if (pattern && !new RegExp(`^(?:${pattern})$`, 'u').test(text)) return `Use only ${words}.`;
}

const isShown = ({ shown }: Field, values: Values) => shown?.(values) ?? true;

/** Returns the input of a change: all values, or what differs from an existing resource. A field that was emptied is null. */
function inputOf(all: Field[], rules: Record<string, Rule>, values: Values, first: Values, resource?: object): object {
  const changed = new Set(all.filter(({ name }) => JSON.stringify(values[name]) !== JSON.stringify(first[name])).map(({ unit }) => unit));
  const input: Record<string, unknown> = {}, fields = all.filter(({ local, unit }) => !local && (!unit || changed.has(unit)));
  for (const top of new Set(fields.map(({ name }) => name.split('.')[0]))) {
    const parts = fields.filter(({ name }) => name.split('.')[0] === top).map((field) => ({ name: field.name, given: !isShown(field, values) ? undefined : field.send ? field.send(values[field.name]) : encode(rules[field.name], values[field.name]) }));
    if (resource && parts.every(({ name, given }) => JSON.stringify(given) === JSON.stringify(encode(rules[name], decode(rules[name], readPath(resource, name)))))) continue;
    const encoded = parts.map(({ name, given }) => [name.slice(top.length + 1), given] as const).filter(([, value]) => value !== undefined);
    const value = parts[0].name === top ? encoded[0]?.[1] : encoded.length > 0 ? Object.fromEntries(encoded) : undefined;
    if (value !== undefined) input[top] = value; else if (resource) input[top] = null;
  }
  return input;
}

/** Assigns each violation that the server found to its field. Violations of no field of the form are returned as problems. */
function placeFaults(problems: Problem[], fields: Field[], unique?: string): [Record<string, string>, Problem[]] {
  const faults: Record<string, string> = {}, rest: Problem[] = [];
  for (const problem of problems) {
    const others: string[] = [];
    for (const { path: [, ...names], message } of problem.violations) { // The first is the argument or the variable.
      const index = names.findIndex((name) => typeof name === 'number'), place = (index < 0 ? names : names.slice(0, index)).join('.');
      const found = fields.findLast(({ name }) => place === name || place.startsWith(name + '.')) ?? fields.find(({ name }) => name.startsWith(place + '.'));
      if (found) faults[found.name] ??= message; else others.push(message);
    }
    if (unique && problem.code === 'ALREADY_EXISTS') faults[unique] = 'This is already in use.';
    else if (others.length > 0) rest.push({ ...problem, message: others.join(' ') });
    else if (problem.violations.length === 0) rest.push(problem);
  }
  return [faults, rest];
}

/** Sets the initial focus of a dialog to the first element of a selector. Otherwise the close button would have the focus. */
function useFirst(container: RefObject<HTMLElement | null>, selector: string) {
  useLayoutEffect(() => container.current?.querySelector(selector)?.setAttribute('autofocus', ''), []);
}

const longestAddress = 30_000; // The server refuses much longer ones, such as one with a long readme.

/** A form is in a dialog, and exists while the dialog is open. It asks before it discards what the reader typed. */
export function Form<Data, Input>({ open, onClose, ...form }: FormProps<Data, Input> & { open: boolean; onClose: () => void }) {
  const dirty = useRef(false), [leaving, setLeaving] = useState<{ go?: () => void }>();
  const leave = (go?: () => void) => {
    if (dirty.current && (go || !leaving)) setLeaving({ go });
    return !dirty.current;
  };
  const close = () => { dirty.current = false; setLeaving(undefined); onClose(); };
  useEffect(() => {
    if (!open) return;
    const end = askBefore(leave), warn = (event: BeforeUnloadEvent) => { if (dirty.current) event.preventDefault(); };
    addEventListener('beforeunload', warn);
    return () => { end(); removeEventListener('beforeunload', warn); };
  }, [open]);
  return (
    <Dialog open={open} onClose={close} onLeave={() => leave()} label={form.title} className="form">
      <Body {...form} onClose={() => { if (leave()) close(); }} onDirty={(yes) => { dirty.current = yes; }}
        onDone={(data, input) => { close(); form.onDone(data, input); }} leaving={leaving && { stay: () => setLeaving(undefined), go: () => { close(); leaving.go?.(); } }} />
    </Dialog>
  );
}

type BodyProps<Data, Input> = FormProps<Data, Input> & { onClose: () => void; onDirty: (yes: boolean) => void; leaving?: { stay: () => void; go: () => void } };

function Body<Data, Input>({ document, title, lead, fields: all, fixed, resource: given, start, submit, unique, affects, below, onDone, onClose, onDirty, leaving }: BodyProps<Data, Input>) {
  const rules: Record<string, Rule> = { ...changes[nameOf(document)].fields, ...Object.fromEntries(all.flatMap(({ name, local }) => (local ? [[name, local]] : []))) }, { run, busy } = useChange(document, affects);
  // The page may read the resource again while the form is open. The form sends what the reader changed, and nothing else.
  const [resource] = useState(given);
  const [first] = useState<Values>(() => Object.fromEntries(all.map(({ name }) => [name, start?.[name] ?? decode(rules[name], readPath(resource, name))]))), [values, setValues] = useState(first);
  const [faults, setFaults] = useState<Record<string, string>>({}), [problems, setProblems] = useState<Problem[]>([]), [tries, setTries] = useState(0);
  const form = useRef<HTMLFormElement>(null), id = useId();
  useFirst(form, '.fields :is(input, select, textarea)');
  useEffect(() => { form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus(); }, [tries]);
  const fields = all.filter((field) => isShown(field, values));

  // A required field of a nested input is required only if the reader fills in another field of that input.
  const ruleOf = (name: string): Rule => {
    if (all.find((one) => one.name === name)?.needed?.(values)) return { ...rules[name], required: true };
    const rule = rules[name], top = name.slice(0, name.indexOf('.') + 1);
    return rule.required && top && fields.every((one) => !one.name.startsWith(top) || isBlank(values[one.name])) ? { ...rule, required: false } : rule;
  };
  const change = (name: string, value: Value) => {
    onDirty(true);
    setValues((old) => ({ ...old, [name]: value }));
    setFaults(({ [name]: _, ...others }) => others);
  };
  const check = (name: string) => {
    const fault = faultOf(ruleOf(name), values[name]);
    if (fault && !isBlank(values[name])) setFaults((old) => ({ ...old, [name]: fault }));
  };
  const input = { ...fixed, ...inputOf(all, rules, values, first, resource) } as Input;
  const mutation = settings.playground && playgroundAddress(document, { input: input as object });
  const send = async (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    const found = Object.fromEntries(fields.map(({ name }) => [name, faultOf(ruleOf(name), values[name])]).filter(([, fault]) => fault));
    setFaults(found);
    setProblems([]);
    if (Object.keys(found).length > 0) { setTries(tries + 1); return; }
    if ((resource || all.some(({ unit }) => unit)) && Object.keys(input as object).length === Object.keys(fixed ?? {}).length) { onDirty(false); onClose(); return; } // In this case nothing differs.
    const { data, problems: answered } = await run(input);
    if (data) { onDone(data, input); return; }
    const [placed, rest] = placeFaults(answered, fields, unique);
    setFaults(placed);
    setProblems(rest);
    setTries(tries + 1);
  };
  return (
    <form ref={form} onSubmit={(event) => void send(event)} noValidate aria-busy={busy}>
      <header><h2>{title}</h2><button type="button" className="icon-button" aria-label="Close" onClick={onClose}><Icon name="close" /></button></header>
      <div className="fields">
        {lead && <p className="dim">{lead}</p>}
        {fields.map((field) => <Entry key={field.name} id={`${id}-${field.name}`} field={field} rule={ruleOf(field.name)} value={values[field.name]} fault={faults[field.name]} onChange={(value) => change(field.name, value)} onLeave={() => check(field.name)} />)}
        {below?.(values)}
        <Refusal problems={problems} />
      </div>
      {leaving ? <footer role="alertdialog" aria-label="Discard your changes?"><span className="grow">Your changes are not saved.</span><button type="button" autoFocus onClick={leaving.stay}>Keep editing</button><button type="button" className="danger" onClick={leaving.go}>Discard</button></footer>
        : <footer>{mutation && mutation.length < longestAddress && <a className="mutation" href={mutation} target="_blank" rel="noreferrer">Show the mutation</a>}
          <span className="grow" /><button type="button" onClick={onClose}>Cancel</button><button type="submit" className="primary" aria-disabled={busy}>{busy ? 'Working …' : submit}</button></footer>}
    </form>
  );
}

/** This component shows text of the schema, in which names are between backticks. */
const Description = ({ text }: { text: string }) => <>{text.split('`').map((part, i) => (i % 2 ? <code key={i}>{part}</code> : part))}</>;

interface EntryProps { id: string; field: Field; rule: Rule; value: Value; fault?: string; onChange: (value: Value) => void; onLeave: () => void }

/** An entry shows one field: its name, its control, what it accepts, and what is wrong with it. */
function Entry({ id, field, rule, value, fault, onChange, onLeave }: EntryProps) {
  const { label, hint = rule.about && <Description text={rule.about} />, choices, nothing = 'None', placeholder, code, control } = field;
  const described = [fault && `${id}-fault`, hint && `${id}-hint`].filter(Boolean).join(' ') || undefined;
  const common = { id, 'aria-invalid': fault ? true as const : undefined, 'aria-describedby': described, 'aria-required': rule.required ? true as const : undefined, onBlur: onLeave };
  const text = { ...common, value: value as string, placeholder, className: code ? 'code' : undefined, spellCheck: code ? false : undefined, autoComplete: 'off' };
  const options = choices ?? Object.entries(rule.values ?? {}).map(([one, about]) => ({ value: one, name: sentence(one), about }));
  const grouped = control ? false : rule.type === 'pairs' || (rule.type === 'list' && choices !== undefined);
  const note = <>{hint && <small id={`${id}-hint`}>{hint}</small>}{fault && <p className="fault" id={`${id}-fault`}><Icon name="warning" />{fault}</p>}</>;
  if (rule.type === 'yes' && !control) {
    return <div className="field yes"><input type="checkbox" {...common} checked={value as boolean} onChange={(event) => onChange(event.target.checked)} /><label htmlFor={id}>{label}</label>{note}</div>;
  }
  let input: ReactNode;
  if (control) input = control({ ...common, value, onChange });
  else if (rule.type === 'pairs') input = <Pairs label={label} pairs={value as [string, string][]} onChange={onChange} />;
  else if (rule.type === 'list' && choices) input = <CheckBoxes choices={choices} chosen={value as string[]} onChange={onChange} />;
  else if (rule.type === 'list') input = <textarea {...text} value={(value as string[]).join('\n')} rows={3} placeholder={placeholder ?? 'One per line'} onBlur={() => { const tidy = (value as string[]).map((line) => line.trim()).filter(Boolean); if (tidy.join('\n') !== (value as string[]).join('\n')) onChange(tidy); onLeave(); }} onChange={(event) => onChange(event.target.value === '' ? [] : event.target.value.split('\n'))} />;
  else if (options.length > 0) input = <select {...common} value={value as string} onChange={(event) => onChange(event.target.value)}>{(!rule.required || value === '') && <option value="">{rule.required ? 'Choose one' : nothing}</option>}{options.map((one) => <option key={one.value} value={one.value}>{one.name}</option>)}</select>;
  else if (rule.type === 'duration') input = <Span {...common} label={label} seconds={value as string} onChange={onChange} />;
  else if (rule.type === 'time') input = <TimeField {...text} onChange={onChange} />;
  else if ((rule.mostBytes ?? 0) >= 65_536) input = <textarea {...text} rows={10} onChange={(event) => onChange(event.target.value)} />;
  else input = <input type="text" {...text} onChange={(event) => onChange(event.target.value)} />;
  const name = <>{label}{!rule.required && <> <span className="optional">optional</span></>}</>;
  const length = typeof value === 'string' && rule.most !== undefined && value.length > rule.most * 0.8 ? <span className="optional">{count([...value].length)} of {count(rule.most)}</span> : null;
  return grouped
    ? <fieldset className="field" aria-describedby={described} aria-invalid={fault ? true : undefined} tabIndex={fault ? -1 : undefined}><legend>{name}</legend>{note}{input}</fieldset>
    : <div className="field"><label htmlFor={id}>{name}</label>{length}{input}{note}</div>;
}

/** A refusal says why the server refused a change, if the reason is about no field. */
export function Refusal({ problems }: { problems: Problem[] }) {
  if (problems.length === 0) return null;
  if (problems.some(({ code }) => code === 'UNAUTHENTICATED')) return <SignInAgain />;
  return <div className="problem" role="alert"><Icon name="warning" /><div>{problems.map(({ code, message }, i) => <p key={i}><strong>{sentence(code || 'The change failed')}.</strong> {message}{adviceFor(code) && ` ${adviceFor(code)}`}</p>)}</div></div>;
}

/** This part lets the reader sign in again without losing what they typed. The new tab knows from the opener that somebody was signed in, and tells this tab. */
function SignInAgain() {
  const { expired } = useSession(), [waited] = useState(expired), [token, setToken] = useState(''), id = useId();
  const again = settings.providers.length > 0 ? <p><a href="/console" target="_blank" rel="opener">Sign in again in another tab</a>, then come back and try again.</p>
    : <div className="field"><label htmlFor={id}>New bearer token</label><div className="span"><input id={id} type="text" className="covered grow" value={token} onChange={(event) => setToken(event.target.value)} autoComplete="off" spellCheck={false} /><button type="button" disabled={!looksLikeToken(token)} onClick={() => replaceToken(bareToken(token))}>Use this token</button></div></div>;
  return (
    <div className="problem" role="alert"><Icon name="warning" /><div className="grow">{expired ? <><p><strong>Your session has expired.</strong> Nothing was changed, and what you entered is kept.</p>{again}</>
      : waited ? <p><strong>You are signed in again.</strong> Nothing was changed yet: try again.</p> : <p><strong>Your session has expired.</strong> Nothing was changed.</p>}</div></div>
  );
}

/** This type says what the reader may do with a resource, and names the resource. The capabilities come from viewerCapabilities. */
export interface Holding { capabilities: readonly string[] | undefined; on: string }

/** Returns why the reader may not make a change, or undefined if they may. */
export function reasonAgainst(document: string, { capabilities, on }: Holding): string | undefined {
  const missing = changes[nameOf(document)].needs.filter((name) => !capabilities?.includes(name.toUpperCase().replaceAll('.', '_')));
  return capabilities && missing.length > 0 ? `This needs ${missing.join(' and ')} on ${on}, which your role does not include. An owner can give you a role that does.` : undefined;
}

interface ActionProps { icon?: IconName; className?: string; label?: string; reason?: string; shortcut?: string; onClick: () => void; children?: ReactNode; busy?: boolean }

/** An action is a button. With a reason it does nothing, and shows the reason while it has the pointer or the focus. */
export function Action({ icon, className, label, reason, shortcut, onClick, children, busy }: ActionProps) {
  const id = useId(), [tip, setTip] = useState<{ left: number; top: number }>();
  const show = (element: HTMLElement) => {
    const { left, bottom } = element.getBoundingClientRect();
    if (reason) setTip({ left: Math.max(8, Math.min(left, innerWidth - 312)), top: bottom + 6 });
  };
  const hide = () => setTip(undefined);
  return (
    <span className="action" onPointerEnter={(event) => show(event.currentTarget)} onPointerLeave={hide} onFocus={(event) => show(event.currentTarget)} onBlur={hide}>
      <button type="button" className={className} aria-label={label} aria-keyshortcuts={shortcut} aria-disabled={reason || busy ? true : undefined} aria-describedby={reason ? id : undefined} onClick={() => { if (!reason && !busy) onClick(); }}>
        {icon && <Icon name={icon} />}{children}</button>
      {reason && <span role="tooltip" id={id} className="tip" style={tip ?? { display: 'none' }}>{reason}</span>}
    </span>
  );
}

type FormButtonProps<Data, Input> = FormProps<Data, Input> & { label: ReactNode; icon?: IconName; className?: string; held: Holding; reason?: string; shortcut?: string };

/** This button opens a form if the reader may make the change. Otherwise it says what is missing. */
export function FormButton<Data, Input>({ label, icon, className, held, reason, shortcut, ...form }: FormButtonProps<Data, Input>) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Action icon={icon} className={className} reason={reason ?? reasonAgainst(form.document, held)} shortcut={shortcut} onClick={() => setOpen(true)}>{label}</Action>
      <Form {...form} open={open} onClose={() => setOpen(false)} />
    </>
  );
}

interface ConfirmProps<Data, Input> {
  document: TypedDocument<Data, { input: Input }>;
  input: Input;
  title: string;
  submit: string;
  harmless?: boolean; // It says whether the change removes nothing.
  obstacle?: ReactNode; // It says what prevents the change, if the console already knows.
  affects?: string[];
  children: ReactNode; // They say what the change does, and what it removes.
  immediately?: (input: Input) => void; // If it is given, it makes the change, and the dialog closes at once.
  onDone: (data: Data) => void;
}

type ConfirmButtonProps<Data, Input> = ConfirmProps<Data, Input> & { label: ReactNode; icon?: IconName; className?: string; name?: string; held: Holding; reason?: string };

/** This button asks before it makes the change, and says what the change removes. */
export function ConfirmButton<Data, Input>({ label, icon, className, name, held, reason, ...confirm }: ConfirmButtonProps<Data, Input>) {
  const [open, setOpen] = useState(false), close = () => setOpen(false);
  return (
    <>
      <Action icon={icon} className={className} label={name} reason={reason ?? reasonAgainst(confirm.document, held)} onClick={() => setOpen(true)}>{label}</Action>
      <Dialog open={open} onClose={close} label={confirm.title} className="form"><Question {...confirm} onClose={close} /></Dialog>
    </>
  );
}

function Question<Data, Input>({ document, input, title, submit, harmless, obstacle, affects, immediately, children, onDone, onClose }: ConfirmProps<Data, Input> & { onClose: () => void }) {
  const { run, busy } = useChange(document, affects), [problems, setProblems] = useState<Problem[]>([]);
  const body = useRef<HTMLDivElement>(null);
  useFirst(body, 'footer button');
  const go = async () => {
    if (immediately) { onClose(); immediately(input); return; }
    setProblems([]);
    const { data, problems: answered } = await run(input);
    if (!data) { setProblems(answered); return; }
    onClose();
    onDone(data);
  };
  return (
    <div ref={body} aria-busy={busy}>
      <header><h2>{title}</h2></header>
      <div className="fields">{children}{obstacle && <div className="obstacle"><Icon name="warning" /><div>{obstacle}</div></div>}<Refusal problems={problems} /></div>
      <footer><span className="grow" /><button type="button" onClick={onClose}>{obstacle ? 'Close' : 'Cancel'}</button>
        {!obstacle && <button type="button" className={harmless ? 'primary' : 'danger'} aria-disabled={busy} onClick={() => { if (!busy) void go(); }}>{busy ? 'Working …' : submit}</button>}</footer>
    </div>
  );
}
