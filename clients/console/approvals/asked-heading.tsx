import { usdWords } from '../parts/amount-words.ts'
import { Ago } from '../parts/moment.tsx'
import { RunChangesNotice } from '../parts/run-changes.tsx'
import { StateMark } from '../parts/state-mark.tsx'
import { hrefOf } from '../route.ts'
import type { Approval } from './decision.ts'
import { RiskMark } from './risk-mark.tsx'

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
        Block <a href={hrefOf(['runs', run_id, 'graph'], { block: block_id })}>{block_id}</a> of {dag_name},{' '}
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
