import { Empty } from '../parts/notice.tsx'
import { ObjectLink } from '../parts/object-link.tsx'
import { StateMark } from '../parts/state-mark.tsx'
import { hrefOf } from '../route.ts'
import type { GoalAnswer } from './goal-answer.ts'

type Criterion = GoalAnswer['criteria'][number]
type Source = NonNullable<Criterion['source']>

/** What was to be reached and what was, each with where it was read; violations and warnings below. */
export function GoalCriteria({ goal }: { readonly goal: GoalAnswer }) {
  const violations = goal.quality?.violations ?? []
  return (
    <section class="card stack">
      <h3>Criteria</h3>
      {goal.criteria.length === 0 ? <Empty>A goal contract would name them.</Empty> : <Criteria goal={goal} />}
      {violations.length > 0 && (
        <>
          <h3>Quality violations</h3>
          <ul>
            {violations.map(({ code, penalty, message, source }) => (
              <li key={`${code} ${message}`}>
                {message} <code>{code}</code> <span class="soft">costs {penalty}</span>{' '}
                {source !== undefined && <SourceLink runId={goal.run_id} source={source} />}
              </li>
            ))}
          </ul>
        </>
      )}
      {goal.warnings.length > 0 && (
        <>
          <h3>Warnings and blockers</h3>
          <ul>
            {goal.warnings.map(({ code, message, severity }) => (
              <li key={`${code} ${message}`}>
                {message} <code>{code}</code> <span class="soft">{severity}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  )
}

function Criteria({ goal: { run_id, criteria } }: { readonly goal: GoalAnswer }) {
  return (
    <div class="scroll">
      <table class="goal-criteria">
        <thead>
          <tr>
            {['Criterion', 'Status', 'Found', 'Wanted', 'In words', 'Read from'].map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {criteria.map((one, place) => (
            <tr key={one.id ?? place}>
              <th scope="row">
                <code>{one.id ?? '–'}</code>
                <div class="soft small">{one.kind?.replaceAll('_', ' ')}</div>
              </th>
              <td>
                <StateMark state={one.status} />
              </td>
              <td class="numbers">{one.actual ?? '–'}</td>
              <td class="numbers">{one.target ?? '–'}</td>
              <td>{one.message}</td>
              <td>{one.source === null ? '–' : <SourceLink runId={run_id} source={one.source} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** The block, the event and the line that supplied it; an artifact is no event but an object. */
function SourceLink({ runId, source }: { readonly runId: string; readonly source: Source }) {
  const { block, attempt, seq, line, sha256, bytes } = source
  return (
    <span class="small">
      {block !== undefined && <a href={hrefOf(['runs', runId, 'graph'], { block })}>{block}</a>}
      {attempt !== undefined && <span class="soft"> attempt {attempt}</span>}
      {seq !== undefined && (
        <>
          , <a href={hrefOf(['runs', runId, 'events'], { seq: String(seq) })}>event {seq}</a>
        </>
      )}
      {line !== undefined && <span class="soft">, line {line}</span>}
      {sha256 !== undefined && (
        <>
          , <ObjectLink object={{ ref: sha256, sha256, ...(bytes !== undefined && { bytes }) }} />
        </>
      )}
    </span>
  )
}
