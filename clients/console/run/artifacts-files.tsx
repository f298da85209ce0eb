import { useEffect } from 'preact/hooks'
import { answerOf, api } from '../api.ts'
import { bytesWords } from '../parts/amount-words.ts'
import { Empty, ProblemNotice } from '../parts/notice.tsx'
import { hrefOf } from '../route.ts'
import { useAnswer } from '../use-answer.ts'
import type { TabProps } from './tab-props.ts'

/** Files the run has written, and those of the run it goes on from. */
export function ArtifactsFiles({ session }: TabProps) {
  const { runId } = session
  const params = { path: { run_id: runId } }
  const { value, problem, reload } = useAnswer(`artifacts ${runId}`, () =>
    answerOf(api.GET('/api/dag/runs/{run_id}/artifacts', { params })),
  )
  const change = session.answer.value
  useEffect(() => {
    if (change !== undefined) reload()
  }, [change, reload])
  return (
    <section class="card stack">
      <h2>Artifacts</h2>
      {problem !== undefined && <ProblemNotice problem={problem} retry={reload} />}
      {value?.artifacts.length === 0 && (
        <Empty>
          No file was written. A block with <code>handler: write-artifact</code> writes one.
        </Empty>
      )}
      {value !== undefined && value.artifacts.length > 0 && <Files runId={runId} artifacts={value.artifacts} />}
    </section>
  )
}

interface FilesProps {
  readonly runId: string
  readonly artifacts: readonly {
    readonly name: string
    readonly sha256: string
    readonly bytes: number
    readonly media_type: string
    readonly block_id: string
    readonly attempt: number
    readonly from_run?: string
    readonly href: string
  }[]
}

function Files({ runId, artifacts }: FilesProps) {
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            {['Name', 'Size', 'Type', 'Written by', 'sha256'].map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {artifacts.map(({ name, sha256, bytes, media_type, block_id, attempt, from_run, href }) => (
            <tr key={name}>
              <th scope="row">
                <a href={href} download={name.split('/').at(-1)}>
                  {name}
                </a>
              </th>
              <td class="numbers">{bytesWords(bytes)}</td>
              <td>{media_type}</td>
              <td>
                <a href={hrefOf(['runs', from_run ?? runId, 'graph'], { block: block_id })}>{block_id}</a>
                <span class="soft"> attempt {attempt}</span>
                {from_run !== undefined && (
                  <>
                    {' of '}
                    <code>{from_run}</code>
                  </>
                )}
              </td>
              <td>
                <code title={sha256}>{sha256.slice(0, 16)}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
