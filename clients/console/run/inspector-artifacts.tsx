import { answerOf, api } from '../api.ts'
import { bytesWords } from '../parts/amount-words.ts'
import { ProblemNotice } from '../parts/notice.tsx'
import type { RunSession } from '../run-session.ts'
import { useAnswer } from '../use-answer.ts'
import type { Inspected } from './inspector-block.ts'
import { InspectorPart } from './inspector-part.tsx'

/** Files the block has written, to be downloaded; nothing where it wrote none. */
export function InspectorArtifacts({
  inspected: { definition, state },
  session: { runId },
}: {
  readonly inspected: Inspected
  readonly session: RunSession
}) {
  const { value, problem, reload } = useAnswer(`artifacts ${runId} ${state}`, () =>
    answerOf(api.GET('/api/dag/runs/{run_id}/artifacts', { params: { path: { run_id: runId } } })),
  )
  if (problem !== undefined) return <ProblemNotice problem={problem} retry={reload} />
  const own = value?.artifacts.filter(({ block_id }) => block_id === definition.id) ?? []
  if (own.length === 0) return null
  return (
    <InspectorPart title="Artifacts">
      <ul class="gate-list">
        {own.map(({ name, bytes, media_type, sha256 }) => (
          <li key={name}>
            <a href={`/api/dag/runs/${runId}/artifacts/${encodeURIComponent(name)}`} download={fileName(name)}>
              {name}
            </a>{' '}
            <span class="small soft" title={`sha256 ${sha256}`}>
              {media_type}, {bytesWords(bytes)}
            </span>
          </li>
        ))}
      </ul>
    </InspectorPart>
  )
}

function fileName(name: string): string {
  return name.split('/').at(-1) ?? name
}
