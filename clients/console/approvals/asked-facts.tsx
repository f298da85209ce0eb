import { usdWords } from '../parts/amount-words.ts'
import { Ago } from '../parts/moment.tsx'
import type { Approval } from './decision.ts'

/** Who decides by which rules, what it has cost, and what a yes may cost. */
export function AskedFacts({ approval }: { readonly approval: Approval }) {
  const { cost, approvers, quorum, self_approval, on_timeout, on_reject, edit, starter, reminders } = approval
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
        <dd>{ON_REJECT[on_reject]}</dd>
        <dt>May be edited</dt>
        <dd>{edit.length === 0 ? 'nothing' : edit.join(', ')}</dd>
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
