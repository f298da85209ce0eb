import { answerOf, api } from '../api.ts'
import { bytesWords, usdWords } from '../parts/format.ts'
import { RunChangesNotice } from '../parts/notice.tsx'
import { StateMark, type Tone } from '../parts/state-mark.tsx'
import { Ago } from '../parts/time-view.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { ValueView } from '../parts/value-view.tsx'
import { hrefOf } from '../route.ts'
import { type Approval, whatIsAsked } from './decision.ts'

/** In what the run is not as deployed, then what is asked, by which block of which run, with its risk, its cost, and how long there is time. */
export function AskedHeading({ approval }: { readonly approval: Approval }) {
  const { status, prompt, block_id, dag_name, run_id, risk, gates = [], raise } = approval
  const [question, ...rest] = (prompt || `May ${block_id} begin?`).split('\n')
  return (
    <header class="stack">
      <RunChangesNotice changes={approval.changes} />
      <div class="row">
        <StateMark state={status} />
        {status === 'pending' && <RiskMark level={risk.level} />}
        <Times approval={approval} />
      </div>
      <h2>{question}</h2>
      {rest.length > 0 && <p class="asked-rest">{rest.join('\n')}</p>}
      <p>
        {approval.about === 'call' ? (
          <a href={hrefOf(['runs', run_id, 'transcript'], { of: block_id })}>{whatIsAsked(approval)}</a>
        ) : (
          <>
            Block <a href={hrefOf(['runs', run_id, 'graph'], { block: block_id })}>{block_id}</a>
          </>
        )}{' '}
        of {dag_name},{' '}
        <a href={hrefOf(['runs', run_id, 'graph'])}>
          run <code>{run_id.slice(4, 12)}</code>
        </a>
      </p>
      {gates.length > 0 && (
        <ul class="failed-gates">
          {gates.map(({ name, reason }) => (
            <li key={name}>
              <StateMark state="failed" /> <strong>{name}</strong> {reason}
            </li>
          ))}
        </ul>
      )}
      {raise !== undefined && <p>After a yes the run may spend: {raiseWords(raise)}.</p>}
      <p class="small">
        <span class="soft">Risk is {risk.level} since</span> {risk.because.join('; ')}
      </p>
    </header>
  )
}

function raiseWords({ tokens, usd }: NonNullable<Approval['raise']>): string {
  const parts = [...(tokens === undefined ? [] : [`${tokens.toLocaleString('en')} tokens`]), ...moneyOf(usd)]
  return parts.join(' and ')
}

function moneyOf(usd: number | undefined): readonly string[] {
  return usd === undefined ? [] : [usdWords(usd)]
}

function Times({ approval }: { readonly approval: Approval }) {
  const { status, requested_at, expires_at, decided_at, decided_by, via } = approval
  if (status === 'pending') {
    return (
      <span>
        asked <Ago at={requested_at} />, expires <Ago at={expires_at} />
      </span>
    )
  }
  return (
    <span>
      {decided_by !== undefined && (
        <>
          by <strong>{decided_by}</strong>
          {via !== undefined && ` via ${via}`},{' '}
        </>
      )}
      {decided_at !== undefined && <Ago at={decided_at} />}
    </span>
  )
}

type Level = Approval['risk']['level']

const LOOKS: Readonly<Record<Level, { readonly sign: string; readonly tone: Tone }>> = {
  low: { sign: '▁', tone: 'quiet' },
  medium: { sign: '▄', tone: 'warn' },
  high: { sign: '█', tone: 'bad' },
}

/** Sign, word and colour: the higher, the more. */
export function RiskMark({ level }: { readonly level: Level }) {
  const { sign, tone } = LOOKS[level]
  return (
    <span class={`state tone-${tone}`}>
      <span class="sign" aria-hidden="true">
        {sign}
      </span>
      {level} risk
    </span>
  )
}

/** Exactly what the digest binds a decision to: every value with its size and hash. */
export function ShownValues({ approval }: { readonly approval: Approval }) {
  const names = Object.keys(approval.shown_refs)
  return (
    <section class="stack">
      <h3>What is approved</h3>
      {names.length === 0 && <p class="empty">It shows no values: the question is all there is.</p>}
      {names.map((name) => (
        <div key={name} class="shown-value">
          <p class="shown-name">
            <strong>{name}</strong>
            <StoredFacts stored={approval.shown_refs[name]} />
          </p>
          <ValueView value={approval.shown[name]} label={`shown value ${name}`} />
        </div>
      ))}
      <p class="small">
        <span class="soft">Digest of all that is shown, the prompt and the block's definition</span>
        <br />
        <code class="hash">{approval.digest}</code>
      </p>
    </section>
  )
}

function StoredFacts({ stored }: { readonly stored: Approval['shown_refs'][string] | undefined }) {
  if (stored === undefined) return null
  return (
    <span class="soft small">
      {bytesWords(stored.bytes)} as JSON, sha256{' '}
      <code class="hash" title={stored.sha256}>
        {stored.sha256.slice(0, 16)}
      </code>
    </span>
  )
}

/** Who decides by which rules, what it has cost, and what a yes may cost. */
export function AskedFacts({ approval }: { readonly approval: Approval }) {
  const { cost, approvers, quorum, self_approval, on_timeout, on_reject, starter, reminders } = approval
  const { escalated_to = [] } = approval
  return (
    <section class="stack">
      <h3>Rules and cost</h3>
      <dl class="facts">
        <dt>Who may decide</dt>
        <dd>{approvers.length === 0 ? 'whoever may approve in this place' : approvers.join(', ')}</dd>
        <dt>Needed</dt>
        <dd>
          {quorum === 1 ? 'one yes' : `${quorum} people`}
          {!self_approval && `, not ${starter}, who started the run`}
        </dd>
        <Votes approval={approval} />
        <dt>If nobody decides</dt>
        <dd>{ON_TIMEOUT[on_timeout]}</dd>
        <dt>After a no</dt>
        <dd>{approval.about === 'call' ? 'the agent is told why not, and goes on' : ON_REJECT[on_reject]}</dd>
        <dt>May be edited</dt>
        <dd>{editWords(approval)}</dd>
        {reminders > 0 && (
          <>
            <dt>Reminded</dt>
            <dd>
              {reminders} {reminders === 1 ? 'time' : 'times'}
            </dd>
          </>
        )}
        {escalated_to.length > 0 && (
          <>
            <dt>Also asked since</dt>
            <dd>{escalated_to.join(', ')}</dd>
          </>
        )}
        <dt>Spent so far</dt>
        <dd class="numbers">
          {cost.spent.tokens.toLocaleString('en')} tokens, {usdWords(cost.spent.usd)}
          {unpricedWords(cost.spent.unpriced)}
        </dd>
        <dt>To come after a yes</dt>
        <dd class="numbers">
          {toComeWords(cost.to_come)}
          {unpricedWords(cost.to_come.unpriced)}
          {cost.to_come.children.length > 0 && `, without the child runs ${cost.to_come.children.join(', ')}`}
        </dd>
        <dt>Started by</dt>
        <dd>{starter}</dd>
        <dt>Approval</dt>
        <dd>
          <code>{approval.approval_id}</code>
        </dd>
      </dl>
    </section>
  )
}

function editWords({ edit, edit_types = {} }: Approval): string {
  const names = edit.map((name) => (edit_types[name] === undefined ? name : `${name} (${edit_types[name]})`))
  return names.length === 0 ? 'nothing' : names.join(', ')
}

const ON_TIMEOUT: Readonly<Record<Approval['on_timeout'], string>> = {
  reject: 'it counts as a no',
  fail: 'the block fails',
  approve: 'it is approved by itself',
}

const ON_REJECT: Readonly<Record<Approval['on_reject'], string>> = {
  fail: 'the block fails',
  iterate: 'another run takes its place, with the feedback',
  route: 'earlier blocks are done again, with the feedback',
}

function Votes({ approval: { votes, quorum } }: { readonly approval: Approval }) {
  if (quorum === 1) return null
  return (
    <>
      <dt>Votes</dt>
      <dd>
        {votes.length} of {quorum}
        {votes.length > 0 && (
          <ul class="votes">
            {votes.map(({ by, via, at }) => (
              <li key={by}>
                {by} via {via}, <Ago at={at} />
              </li>
            ))}
          </ul>
        )}
      </dd>
    </>
  )
}

function toComeWords({ tokens, usd }: Approval['cost']['to_come']): string {
  const most = `at most ${tokens.high.toLocaleString('en')}`
  const money = usd === null ? 'unknown price' : `${usdWords(usd.expected)}, at most ${usdWords(usd.high)}`
  return `about ${tokens.expected.toLocaleString('en')} tokens (${most}), ${money}`
}

function unpricedWords(blocks: readonly string[]): string {
  return blocks.length === 0 ? '' : ` (no price is known for ${blocks.join(', ')})`
}

/** What was said with a decision, and what was changed; the run keeps it. Nothing where nothing was said. */
export function DecidedWords({ approval }: { readonly approval: Approval }) {
  const { run_id, approval_id, status } = approval
  const { value } = useAnswer(`words ${approval_id} ${status}`, async () => {
    const { approvals } = await answerOf(api.GET('/api/dag/runs/{run_id}', { params: { path: { run_id } } }))
    return approvals.find((one) => one.approval_id === approval_id)
  })
  if (value === undefined) return null
  const { feedback, edits, iterate } = value
  return (
    <>
      {feedback !== undefined && <blockquote class="decided-words">{feedback}</blockquote>}
      {iterate !== undefined && <p>Another run takes its place: {iterate.replaceAll('_', ' ')}.</p>}
      {edits !== undefined && (
        <div>
          <p>Inputs as the approver changed them</p>
          <ValueView value={edits} label="edited inputs" />
        </div>
      )}
    </>
  )
}

interface DecidedOnProps {
  readonly approval: Approval
  /** What is other than the reader saw; not empty = it is asked again. */
  readonly changes: readonly string[]
}

/** Names what a decision is about, once more: question, values, digest. */
export function DecisionSubject({ approval, changes }: DecidedOnProps) {
  const { prompt, shown_refs, digest, gates = [] } = approval
  return (
    <>
      {changes.length > 0 && <ChangedSince approval={approval} changes={changes} />}
      <RunChangesNotice changes={approval.changes} />
      <dl class="facts">
        <dt>Question</dt>
        <dd>{prompt || 'May it begin?'}</dd>
        {gates.length > 0 && (
          <>
            <dt>Failed gates</dt>
            <dd>{gates.map(({ name }) => name).join(', ')}</dd>
          </>
        )}
        <dt>Shown</dt>
        <dd>
          {Object.entries(shown_refs)
            .map(([name, { bytes }]) => `${name} (${bytesWords(bytes)})`)
            .join(', ') || 'no values'}
        </dd>
        <dt>Digest</dt>
        <dd>
          <code class="hash">{digest}</code>
        </dd>
      </dl>
    </>
  )
}

function ChangedSince({ approval, changes }: DecidedOnProps) {
  return (
    <div class="notice tone-warn stack" role="alert">
      <p>
        <strong>Nothing was decided: {changes.join(', ')} changed since you looked.</strong> Below is what is asked now;
        decide again if you still mean it.
      </p>
      {changes
        .filter((name) => Object.hasOwn(approval.shown, name))
        .map((name) => (
          <div key={name}>
            <strong>{name}</strong>
            <ValueView value={approval.shown[name]} label={`changed value ${name}`} />
          </div>
        ))}
    </div>
  )
}
