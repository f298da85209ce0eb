import { Ago } from '../parts/moment.tsx'
import { Empty } from '../parts/notice.tsx'
import { StateMark } from '../parts/state-mark.tsx'
import { hrefOf } from '../route.ts'
import type { GoalAnswer } from './goal-answer.ts'

/** Every attempt of the lineage that was judged, oldest first, the one that reached it last. */
export function GoalAttempts({ goal }: { readonly goal: GoalAnswer }) {
  const { attempts, lastGoalAttempt: last, run_id } = goal
  const rows = last === null || attempts.some((one) => one.run_id === last.run_id) ? attempts : [...attempts, last]
  return (
    <section class="card">
      <h3>Attempts at this goal</h3>
      {rows.length === 0 ? (
        <Empty>None was judged yet. Each is a run of its own; they stand here once they end.</Empty>
      ) : (
        <div class="scroll">
          <table>
            <thead>
              <tr>
                {['Attempt', 'Ended', 'Criteria met', 'Run', 'When'].map((title) => (
                  <th key={title} scope="col">
                    {title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((one) => (
                <tr key={one.run_id}>
                  <td class="numbers">{one.attemptNumber}</td>
                  <td>
                    <StateMark state={one.status} />
                  </td>
                  <td class="numbers">
                    {one.metCount} of {one.totalCount}
                  </td>
                  <td>
                    <a href={hrefOf(['runs', one.run_id, 'goal'])}>
                      <code>{one.run_id}</code>
                    </a>
                    {one.run_id === run_id && ' (this run)'}
                  </td>
                  <td>
                    <Ago at={one.at} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}
