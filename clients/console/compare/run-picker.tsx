import { answerOf, api } from '../api.ts'
import { Ago } from '../parts/moment.tsx'
import { Empty, ProblemNotice } from '../parts/notice.tsx'
import { StateMark } from '../parts/state-mark.tsx'
import { hrefOf } from '../route.ts'
import { useAnswer } from '../use-answer.ts'

/** Recent runs to compare: any for the left side, then those of the same DAG for the right one. */
export function RunPicker({ a }: { readonly a: string | undefined }) {
  const { value, problem, reload } = useAnswer(`runs to compare with ${a}`, () => askRuns(a))
  if (problem !== undefined) return <ProblemNotice problem={problem} retry={reload} />
  if (value === undefined) return <p class="empty">Asking the place for its runs.</p>
  const { dag, runs } = value
  const words =
    dag === undefined
      ? 'Choose the run for the left side (A).'
      : `Choose the run of ${dag} to compare with ${a?.slice(4, 12)}.`
  if (runs.length === 0)
    return <Empty>{dag === undefined ? 'There is no run yet.' : `There is no other run of ${dag} yet.`}</Empty>
  return (
    <>
      <p>{words}</p>
      <ul class="picker">
        {runs.map((run) => (
          <li key={run.run_id}>
            <a href={hrefOf(a === undefined ? ['compare', run.run_id] : ['compare', a, run.run_id])}>
              <strong>{run.dag_name}</strong> <code class="soft">{run.run_id.slice(4, 12)}</code>
              <StateMark state={run.state} />
              <span class="soft">
                <Ago at={run.created_at} /> by {run.starter}
              </span>
            </a>
          </li>
        ))}
      </ul>
    </>
  )
}

async function askRuns(a: string | undefined) {
  const dag = a === undefined ? undefined : await nameOf(a)
  const query = { limit: 50, ...(dag === undefined ? {} : { dag }) }
  const { runs } = await answerOf(api.GET('/api/dag/runs', { params: { query } }))
  return { dag, runs: runs.filter(({ run_id }) => run_id !== a) }
}

async function nameOf(run_id: string): Promise<string> {
  const { run } = await answerOf(api.GET('/api/dag/runs/{run_id}', { params: { path: { run_id } } }))
  return run.dag_name
}
