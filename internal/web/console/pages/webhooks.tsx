import { Fragment, useEffect, useState, type ReactNode } from 'react';
import { useChange, usePages, type Problem } from '../client';
import { Action, ConfirmButton, FormButton, reasonAgainst, Refusal, type ControlProps, type Field, type Holding } from '../form';
import {
  CreateSubscription, DeleteSubscription, EnableSubscription, Redeliver, RotateSubscriptionSecret, TestSubscription, Webhook as WebhookDocument, Webhooks as WebhooksDocument,
  type DeliveryState, type HookFragment, type SubscriptionDigest, type SubscriptionFormat, type WebhookQuery, type WebhookQueryVariables, type WebhooksQuery, type WebhooksQueryVariables,
} from '../generated/graphql';
import { ListProblems, Toggles, useNarrow } from '../list';
import { Secret } from '../secret';
import { groupAddress } from '../places';
import { Link, narrow, navigate, useLocation } from '../router';
import { useSorting } from '../sorting';
import { ChosenBar, SaveRows, Table, useMarking, type Column } from '../table';
import { shortType, topics, typeName } from '../topics';
import { CopyButton, Empty, Icon, Lines, namesOf, Problems, Time, useKeptFocus } from '../ui';
import { count, dayOf, formatRelativeTime, formatTime, plural } from '../words';

type Row = NonNullable<NonNullable<WebhooksQuery['group']>['subscriptions']>['nodes'][number];
type Delivery = NonNullable<NonNullable<WebhookQuery['subscription']>['deliveries']>['nodes'][number];

/** This page shows the webhooks of a group, or one of them with its deliveries. */
export function Webhooks(at: { uid: string; names: string[] }) {
  const hook = useLocation().search.get('hook');
  return hook ? <Webhook key={hook} uid={hook} page={groupAddress(at.names, at.uid, 'webhooks')} name={at.names.at(-1)!} /> : <WebhookList {...at} />;
}

const formats: Record<SubscriptionFormat, string> = { CLOUDEVENTS: 'CloudEvents, for programs', SLACK: 'Slack, Mattermost or Rocket.Chat', TEAMS: 'Microsoft Teams', EMAIL: 'Email' };
const digests: Record<SubscriptionDigest, string> = { IMMEDIATE: 'At once', HOURLY: 'Hourly', DAILY: 'Daily' };

/** Returns a control that has always one of the names chosen. */
const choose = (names: Record<string, string>) => ({ value, onChange, ...rest }: ControlProps) => (
  <select {...rest} value={value as string} onChange={(event) => onChange(event.target.value)}>{Object.entries(names).map(([one, name]) => <option key={one} value={one}>{name}</option>)}</select>
);

const fields: Field[] = [
  { name: 'format', label: 'Format', control: choose(formats), hint: 'Programs receive each event. People receive messages, which can sum up several events.' },
  { name: 'sink', label: 'Sink', code: true, placeholder: 'https://hooks.example.com/atrium', hint: 'The https URL that events are posted to, or for email, mailto: with the addresses. A group can have only one webhook for each sink.' },
  { name: 'digest', label: 'When', control: choose(digests), shown: ({ format }) => format !== 'CLOUDEVENTS', hint: 'An hourly or daily message contains all events since the last one.' },
  {
    name: 'types', label: 'Events', hint: 'If you choose none, all events are sent, including those that later versions add.',
    choices: topics.filter(({ isPart }) => !isPart).flatMap(({ name, types }) => types.map((value) => ({ value, name: typeName(value), about: value, group: name }))),
  },
];
const host = (sink: string) => sink.replace(/^(https:\/\/|mailto:)/, '');

function NewWebhook({ uid, name, held, like }: { uid: string; name: string; held: Holding; like?: HookFragment }) {
  const [made, setMade] = useState<{ secret: string; uid: string }>();
  return (
    <>
      <FormButton label={like ? 'Make a copy' : 'New webhook'} icon={like ? 'copy' : 'plus'} held={held} document={CreateSubscription} title={like ? `New webhook like ${host(like.sink)}` : `New webhook in ${name}`} submit="Create the webhook"
        lead={like ? 'The sink and the events of a webhook cannot be changed. This creates another webhook with the events that you choose. Delete the old one when the new one works.' : `It receives the events of ${name} and everything below.`}
        fields={fields} start={{ format: like?.format ?? 'CLOUDEVENTS', digest: like?.digest ?? 'IMMEDIATE', ...(like && { sink: like.sink, types: like.types.map(shortType) }) }} fixed={{ parent: uid }} unique="sink" affects={['EventSubscription', 'Group']}
        onDone={({ createSubscription }) => {
          const { secret, subscription: { uid: hook, format } } = createSubscription!;
          if (format === 'CLOUDEVENTS') setMade({ secret, uid: hook });
          else narrow({ hook }); // Nobody verifies a message.
        }} />
      <Secret title="Webhook secret" secret={made?.secret} onClose={() => { setMade(undefined); narrow({ hook: made!.uid }); }}>{theSecret}</Secret>
    </>
  );
}

const theSecret = <>Deliveries are signed with this secret, so that the sink can verify them. Save it now: it cannot be shown again. The guide has <a href="/guide/events#receivers" target="_blank" rel="noreferrer">receivers</a> that verify it.</>;

const hookSorts = { created: { field: 'CREATE_TIME', direction: 'DESC' } } as const;
const hookColumns: Column<Row, keyof typeof hookSorts>[] = [
  { key: 'sink', label: 'Sink', names: true, width: 'minmax(0, 1fr)', className: 'main', text: ({ sink }) => sink, cell: ({ sink, group, format, digest }) => <span className="two"><b>{host(sink)}</b><small>{namesOf(group).join(' / ') || ' '}{format !== 'CLOUDEVENTS' && ` · ${formats[format]}, ${digests[digest].toLowerCase()}`}</small></span> },
  { key: 'state', label: 'State', width: '12rem', text: (hook) => stateOf(hook, hook.latest?.nodes[0]).name, cell: (hook) => <HookState hook={hook} latest={hook.latest?.nodes[0]} /> },
  { key: 'events', label: 'Events', width: 'minmax(0, 14rem)', className: 'types dim cut', wide: true, text: ({ types }) => types.map(shortType).join(' ') || 'all', cell: ({ types }) => whichTypes(types) },
  { key: 'created', label: 'Created', width: '8rem', className: 'when dim', by: 'created', text: ({ createTime }) => createTime, cell: ({ createTime }) => <Time at={createTime} /> },
];

// A file also has what the page of a webhook says.
const hookFileColumns: Pick<Column<Row>, 'label' | 'text'>[] = [
  { label: 'Group', text: ({ group }) => namesOf(group).join('/') }, { label: 'Format', text: ({ format }) => formats[format] }, { label: 'When', text: ({ digest }) => digests[digest] }, { label: 'Failing since', text: ({ failingSince }) => failingSince }, { label: 'Disabled', text: ({ disableTime }) => disableTime }, { label: 'Why', text: ({ disableReason }) => disableReason }, { label: 'UID', text: ({ uid }) => uid },
];

function WebhookList({ uid, names }: { uid: string; names: string[] }) {
  const sorting = useSorting(hookSorts);
  const list = usePages<WebhooksQuery, Row, WebhooksQueryVariables>(WebhooksDocument, { uid, orderBy: sorting.orderBy, first: 50, start: true }, (data) => data.group?.subscriptions, { start: false });
  const { rows, first, loading, started } = list, total = first?.group?.subscriptions?.totalCount, name = names.at(-1)!;
  const height = useNarrow() ? 84 : 60;
  const refused = list.problems.some(({ code }) => code === 'PERMISSION_DENIED');
  let body: ReactNode;
  if (refused) body = <div className="table"><Empty title="Your role does not let you see webhooks">This needs the capability subscriptions.list. An owner of {name} can give you a role that includes it.</Empty></div>;
  else if (list.problems.length > 0 && rows.length === 0) body = <Problems loaded={list} />;
  else if (!started) body = <div className="table"><div className="pad"><Lines rows={4} height={38} /></div></div>;
  else if (rows.length === 0 && !loading) body = <div className="table"><Empty title="No webhooks yet">A webhook receives every change in {name} and below, with a signature and retries. The guide explains <a href="/guide/events">how to receive events</a>.</Empty></div>;
  else body = (
    <Table label="Webhooks" kind="hook-columns" columns={hookColumns} rows={rows} total={total} keyOf={({ uid: key }) => key} height={height} busy={loading} end={list.readMore} sorting={sorting} to={(hook) => groupAddress(names, uid, 'webhooks', { hook: hook.uid })} />
  );
  return (
    <div className="page">
      <div className="title"><h1>Webhooks</h1><div className="actions">{first?.group && <NewWebhook uid={uid} name={name} held={{ capabilities: first.group.viewerCapabilities, on: name }} />}</div></div>
      <p className="lead">{total != null && !refused ? `${plural(total, 'webhook')} in ${names.join(' / ')} and below` : `Events of ${names.join(' / ')} and below, sent to other systems`}</p>
      {!refused && <div className="filters"><SaveRows name="webhooks" columns={[...hookColumns, ...hookFileColumns]} readAll={list.readAll} disabled={rows.length === 0} /></div>}
      <div className={refused ? 'below-lead' : undefined}>{body}</div>
      {!refused && <ListProblems list={list} />}
    </div>
  );
}

function whichTypes(types: string[]): string {
  if (types.length === 0) return 'All events';
  return types.length > 2 ? `${typeName(types[0])} and ${types.length - 1} more` : types.map(typeName).join(', ');
}

interface Latest { state: DeliveryState; createTime: string }

function stateOf(hook: HookFragment, latest?: Latest): { name: string; className?: string } {
  if (hook.disableTime) return { name: 'Disabled', className: 'bad' };
  if (hook.failingSince) return { name: 'Failing', className: 'open' };
  if (latest?.state === 'DELIVERED') return { name: 'Working', className: 'fixed' };
  return { name: latest ? 'Sending the first event' : 'Nothing sent yet' };
}

function HookState({ hook, latest }: { hook: HookFragment; latest?: Latest }) {
  const { name, className = '' } = stateOf(hook, latest);
  return <span className={`state ${className}`.trim()} title={hook.failingSince && !hook.disableTime ? `Since ${formatTime(hook.failingSince)}` : undefined}>{name}</span>;
}

const states: { value: DeliveryState; name: string }[] = [{ value: 'FAILED', name: 'Failed' }, { value: 'RETRYING', name: 'Retrying' }, { value: 'PENDING', name: 'Pending' }, { value: 'DELIVERED', name: 'Delivered' }];
const look: Record<DeliveryState, string> = { FAILED: 'bad', RETRYING: 'open', PENDING: '', DELIVERED: 'fixed' };
const mostAtOnce = 200, mostAttempts = 10;

function Webhook({ uid, page, name }: { uid: string; page: string; name: string }) {
  useKeptFocus();
  const { search } = useLocation(), state = states.find(({ value }) => value === search.get('state'))?.value, event = search.get('event') ?? undefined;
  const sorting = useSorting(deliverySorts), variables: WebhookQueryVariables = { uid, orderBy: sorting.orderBy, first: 50, start: true, ...((state || event) && { where: { ...(state && { state }), ...(event && { event }) } }) };
  const list = usePages<WebhookQuery, Delivery, WebhookQueryVariables>(WebhookDocument, variables, (data) => data.subscription?.deliveries, { start: false });
  const { first, started, loading } = list, hook = first?.subscription;
  // The reader has sent these deliveries again, but the server does not say so yet. The values are the times of their last attempts.
  const [again, setAgain] = useState<Record<string, string>>({});
  const rows = list.rows.map((row) => (again[row.uid] === row.lastAttemptTime ? { ...row, state: 'PENDING' as const, nextAttemptTime: null } : row));
  const narrowWindow = useNarrow(), { marking, chosen, clear } = useMarking(rows, (row) => row.uid, (row) => `${typeName(row.eventType)} of ${formatTime(row.createTime)}`);
  const [sent, setSent] = useState<string>(), [problems, setProblems] = useState<Problem[]>([]);
  const test = useChange(TestSubscription, ['Delivery']), enable = useChange(EnableSubscription), redeliver = useChange(Redeliver);
  const [enabled, setEnabled] = useState<string>(); // This is when the webhook that the reader enables was disabled.
  const [secret, setSecret] = useState<string>();

  // The list is read again while deliveries are in progress, as long as the reader has read only its first page.
  const soon = Date.now() + 15_000, moving = started && !loading && rows.length <= 50 && (rows.some((row) => row.state === 'PENDING' || (row.state === 'RETRYING' && row.nextAttemptTime && Date.parse(row.nextAttemptTime) < soon)) || sent !== undefined && !rows.some(({ eventId }) => eventId === sent));
  const waits = moving && !hook?.disableTime, [looks, setLooks] = useState(0);
  useEffect(() => {
    if (!waits) return;
    const timer = setTimeout(() => { setLooks(looks + 1); list.reload(); }, Math.min(1000 * 1.3 ** looks, 20_000));
    return () => clearTimeout(timer);
  }, [waits, list.rows, looks]);

  if (!hook) return <div className="page"><p className="back"><Link to={page}>Webhooks</Link></p><div className="title"><h1>Webhook</h1></div>{started ? <Problems loaded={list} /> : <Lines rows={6} height={30} />}</div>;
  const held: Holding = { capabilities: hook.viewerCapabilities, on: host(hook.sink) }, forPeople = hook.format !== 'CLOUDEVENTS', group = namesOf(hook.group), disabled = hook.disableTime !== enabled ? hook.disableTime : null;
  const act = async (made: Promise<{ problems: Problem[] }>, undo?: () => void) => {
    setProblems([]);
    setLooks(0);
    const { problems: found } = await made;
    if (found.length > 0) { undo?.(); setProblems(found); }
  };
  const sendAgain = (which: Delivery[]) => {
    const before = again;
    setAgain({ ...again, ...Object.fromEntries(which.map((row) => [row.uid, row.lastAttemptTime ?? ''])) });
    void act(redeliver.run({ uids: which.map((row) => row.uid) }), () => setAgain(before));
  };
  const tested = rows.find(({ eventId }) => eventId === sent);
  const failed = rows.filter((row) => row.state === 'FAILED').slice(0, mostAtOnce), ready = chosen.filter((row) => row.state === 'FAILED' || row.state === 'DELIVERED');
  const reason = reasonAgainst(Redeliver, held) ?? (ready.length < chosen.length ? 'You cannot redeliver deliveries that are still in progress: choose others.' : ready.length > mostAtOnce ? `You can redeliver at most ${mostAtOnce} deliveries at once: choose fewer.` : undefined);
  return (
    <div className="page">
      <p className="back"><Link to={page}>Webhooks</Link></p>
      <div className="title"><h1>{host(hook.sink).split('/').map((part, i) => <Fragment key={i}>{i > 0 && <>/<wbr /></>}{part}</Fragment>)}</h1><CopyButton text={hook.sink} label="Copy the URL of the sink" />
        <div className="actions">
          <Action icon="play" reason={disabled ? 'A disabled webhook receives nothing: enable it first.' : reasonAgainst(TestSubscription, held)} busy={test.busy}
            onClick={() => void act(test.run({ uid }).then(({ data, problems: found }) => { setSent(data?.testSubscription?.eventId); return { problems: found }; }))}>{forPeople ? 'Send a test message' : 'Send a test event'}</Action>
          {!forPeople && <ConfirmButton label="Rotate the secret" icon="key" held={held} harmless document={RotateSubscriptionSecret} input={{ uid }} title="Rotate the secret?" submit="Make a new secret" onDone={({ rotateSubscriptionSecret }) => setSecret(rotateSubscriptionSecret!.secret)}>
            <p>The webhook gets a new secret, which is shown once. For one day, deliveries are signed with both secrets, so that you have time to update the sink. After that, only the new secret is used.</p>
          </ConfirmButton>}
          <NewWebhook uid={hook.group?.uid ?? hook.uid.slice(0, hook.uid.lastIndexOf('/'))} name={group.at(-1) ?? name} held={held} like={hook} />
          <ConfirmButton label="Delete" icon="bin" held={held} document={DeleteSubscription} input={{ uid }} title={`Delete the webhook ${host(hook.sink)}?`} submit="Delete the webhook" affects={['EventSubscription', 'Group']} onDone={() => navigate(page, { replace: true })}>
            <p>This removes the webhook, its secret, and the record of its {hook.deliveries?.totalCount != null ? plural(hook.deliveries.totalCount, 'delivery', 'deliveries') : 'deliveries'}. Deliveries in progress are stopped. This cannot be undone.</p>
          </ConfirmButton>
        </div>
      </div>
      <dl className="facts">
        <div><dt>State</dt><dd><HookState hook={{ ...hook, disableTime: disabled }} latest={list.rows.find((row) => row.state === 'DELIVERED') ?? list.rows[0]} /></dd></div>
        {hook.failingSince && !disabled && <div><dt>Failing since</dt><dd>{formatTime(hook.failingSince)}</dd></div>}
        <div><dt>Group</dt><dd>{hook.group ? <Link to={groupAddress(group, hook.group.uid)}>{group.join(' / ')}</Link> : 'a group above'}</dd></div>
        <div><dt>Format</dt><dd>{formats[hook.format]}</dd></div>
        {forPeople && <div><dt>When</dt><dd>{digests[hook.digest]}</dd></div>}
        <div><dt>Created</dt><dd>{dayOf(hook.createTime)}</dd></div>
        <div><dt>Events</dt><dd>{hook.types.length === 0 ? 'all' : hook.types.map((type) => <span key={type} className="chip" title={type}>{typeName(type)}</span>)}</dd></div>
      </dl>
      <Secret title="New webhook secret" secret={secret} onClose={() => setSecret(undefined)}>{theSecret}</Secret>
      {disabled && (
        <div className="problem notice"><Icon name="warning" /><div><strong>Disabled {formatRelativeTime(disabled)}</strong><p>{hook.disableReason ? `Why: ${hook.disableReason}.` : 'Its sink did not accept the events.'} No events are sent to it.</p>
          <p>Repair the sink, then enable the webhook: it then receives new events. Deliveries that were in progress are listed below as failed and can be redelivered. Events since then are only in the audit log.</p>
          <Action reason={reasonAgainst(EnableSubscription, held)} busy={enable.busy} onClick={() => { setEnabled(disabled); void act(enable.run({ uid }), () => setEnabled(undefined)); }}>Enable it again</Action></div></div>
      )}
      <Refusal problems={problems} />
      {sent && <p className={delivered(tested) ? 'sent good' : tested?.lastError || tested?.lastStatus ? 'sent bad' : 'sent'} role="status"><Icon name={delivered(tested) ? 'done' : tested?.lastError || tested?.lastStatus ? 'warning' : 'webhook'} />{ofTest(tested)}</p>}
      <div className="filters">
        <h2>Deliveries</h2>
        <Toggles label="State" chosen={state ? [state] : []} onChange={(next) => narrow({ state: next.at(-1), event: undefined })} options={states.map((one) => ({ ...one, count: one.value === 'FAILED' && hook.failed?.totalCount ? count(hook.failed.totalCount) : undefined }))} />
        {event && <Toggles label="Event" chosen={['event']} onChange={() => narrow({ event: undefined })} options={[{ value: 'event', name: 'Only one event ×' }]} />}
        <SaveRows name="deliveries" columns={[...deliveryColumns, { label: 'Last attempt', text: ({ lastAttemptTime }) => lastAttemptTime }, { label: 'Event ID', text: ({ eventId }) => eventId }]} readAll={list.readAll} disabled={rows.length === 0} />
        <span className="total" role="status">{hook.deliveries?.totalCount != null ? plural(hook.deliveries.totalCount, 'delivery', 'deliveries') : ''}</span>
        {failed.length > 0 && <ConfirmButton label={`Redeliver ${count(failed.length)} failed`} icon="repeat" held={held} harmless document={Redeliver} input={{ uids: failed.map((row) => row.uid) }} title="Redeliver the failed events?" submit={`Redeliver ${count(failed.length)}`} affects={['Delivery']} onDone={() => {}}>
          <p>{plural(failed.length, 'event')} {failed.length === 1 ? 'is' : 'are'} sent again, each with up to {mostAttempts} attempts. The sink can recognize an event that it already has by its ID.{hook.failed && hook.failed.totalCount > failed.length && ` These are ${count(failed.length)} of ${count(hook.failed.totalCount)} failed deliveries.`}</p>
        </ConfirmButton>}
      </div>
      {chosen.length > 0 && <ChosenBar what={plural(chosen.length, 'delivery', 'deliveries')} onClear={clear}><Action icon="repeat" reason={reason} onClick={() => { sendAgain(ready); clear(); }}>Redeliver {count(chosen.length)}</Action></ChosenBar>}
      {rows.length === 0 ? list.problems.length > 0 ? <Problems loaded={list} /> : <div className="table"><Empty title={state || event ? 'No delivery matches' : 'Nothing sent yet'}>{state || event ? <button type="button" className="link-button" onClick={() => narrow({ state: undefined, event: undefined })}>Show all deliveries</button> : 'Send a test event to see whether the sink accepts it.'}</Empty></div>
        : <Table label="Deliveries" kind="delivery-columns" columns={deliveryColumns} rows={rows} total={hook.deliveries?.totalCount} keyOf={({ uid: key }) => key} height={narrowWindow ? 78 : 50} measured busy={loading} end={list.readMore} sorting={sorting} marking={marking}
            story={(row) => <DeliveryStory row={row} redeliver={row.state === 'FAILED' || row.state === 'DELIVERED' ? <Action icon="repeat" reason={reasonAgainst(Redeliver, held)} onClick={() => sendAgain([row])}>Redeliver</Action> : null} />} />}
      <ListProblems list={list} />
    </div>
  );
}

const delivered = (delivery?: Delivery) => delivery?.state === 'DELIVERED';

function ofTest(delivery?: Delivery): string {
  if (!delivery || delivery.state === 'PENDING') return 'A test event is on its way. Waiting for the response of the sink …';
  if (delivered(delivery)) return `The sink accepted the test event and answered ${delivery.lastStatus}.`;
  return `The sink did not accept the test event: ${delivery.lastError ?? `it answered ${delivery.lastStatus}`}.`;
}

const deliverySorts = { queued: { field: 'CREATE_TIME', direction: 'DESC' }, event: { field: 'EVENT_TYPE', direction: 'ASC' }, tried: { field: 'LAST_ATTEMPT_TIME', direction: 'DESC' }, next: { field: 'NEXT_ATTEMPT_TIME', direction: 'ASC' } } as const;
const deliveryColumns: Column<Delivery, keyof typeof deliverySorts>[] = [
  { key: 'state', label: 'State', width: '7rem', text: ({ state }) => state, cell: ({ state }) => <span className={'state ' + look[state]}>{states.find(({ value }) => value === state)!.name}</span> },
  { key: 'event', label: 'Event', names: true, width: 'minmax(0, 1fr)', className: 'main cut', by: 'event', text: ({ eventType }) => shortType(eventType), cell: ({ eventType, events }) => (events > 1 ? `${typeName(eventType)} and ${events - 1} more` : typeName(eventType)) },
  { key: 'answer', label: 'Response', width: 'minmax(0, 1fr)', className: 'answer dim cut', text: ({ lastStatus, lastError }) => lastStatus ?? lastError, cell: ({ lastStatus, lastError }) => lastStatus ?? lastError ?? '–' },
  { key: 'attempts', label: 'Attempts', width: '5rem', className: 'attempts dim', text: ({ attempts }) => attempts, cell: ({ attempts }) => attempts },
  { key: 'queued', label: 'Queued', width: '8rem', className: 'when dim', by: 'queued', text: ({ createTime }) => createTime, cell: ({ createTime }) => <Time at={createTime} /> },
];

function DeliveryStory({ row, redeliver }: { row: Delivery; redeliver: ReactNode }) {
  const { attempts, lastStatus, lastError, lastAnswer, nextAttemptTime, lastAttemptTime } = row;
  return (
    <>
      <dl>
        <div><dt>Event</dt><dd><code>{row.eventId}</code><CopyButton text={row.eventId} label="Copy the event ID" /></dd></div>
        <div><dt>Type</dt><dd><code>{row.eventType}</code></dd></div>
        {row.events > 1 && <div><dt>Events</dt><dd>{count(row.events)} in one message</dd></div>}
        <div><dt>Queued</dt><dd>{formatTime(row.createTime)}</dd></div>
        <div><dt>Attempts</dt><dd>{attempts} of at most {mostAttempts}{lastAttemptTime && `, the last ${formatTime(lastAttemptTime)}`}</dd></div>
        {nextAttemptTime && <div><dt>Next</dt><dd>{formatTime(nextAttemptTime)}</dd></div>}
      </dl>
      <div>
        <dl><div><dt>Response</dt><dd>{lastStatus ? `HTTP status ${lastStatus}` : attempts === 0 ? 'No attempt yet' : 'None'}</dd></div>
          {lastError && <div><dt>Why it failed</dt><dd>{lastError}</dd></div>}</dl>
        {lastAnswer && <pre className="answer-text" tabIndex={0} aria-label="Response of the sink">{lastAnswer}</pre>}
        {redeliver && <p className="redeliver">{redeliver}</p>}
      </div>
    </>
  );
}
