import { useEffect } from 'preact/hooks'
import { answerOf, api } from '../api.ts'
import { Empty, ProblemNotice } from '../parts/notice.tsx'
import { ValueView } from '../parts/value-view.tsx'
import { useAnswer } from '../use-answer.ts'
import type { TabProps } from './tab-props.ts'

/** The shared context as it is now: run inputs and what was set since, with the version a change must name. */
export function ArtifactsContext({ session }: TabProps) {
  const { runId } = session
  const params = { path: { run_id: runId } }
  const { value, problem, reload } = useAnswer(`context ${runId}`, () =>
    answerOf(api.GET('/api/dag/runs/{run_id}/context', { params })),
  )
  const change = session.answer.value
  useEffect(() => {
    if (change !== undefined) reload()
  }, [change, reload])
  return (
    <section class="card stack">
      <h2>Inputs and shared context</h2>
      {problem !== undefined && <ProblemNotice problem={problem} retry={reload} />}
      {value !== undefined && (
        <>
          <p class="soft small">Version {value.version}. Each attempt reads the version it began with.</p>
          {Object.keys(value.values).length === 0 ? (
            <Empty>Empty: the run was started without inputs, and nothing was set.</Empty>
          ) : (
            <ValueView value={value.values} label="shared context" />
          )}
        </>
      )}
    </section>
  )
}
