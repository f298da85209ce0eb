import './outputs.css'
import { useEffect, useState } from 'preact/hooks'
import { answerOf, api } from '../../api.ts'
import { bytesWords } from '../../parts/format.ts'
import { Empty, ProblemNotice } from '../../parts/notice.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import { ObjectLink, ValueView } from '../../parts/value-view.tsx'
import { hrefOf } from '../../route.ts'
import { outputBlocks } from '../session/output-blocks.ts'
import { documentOf, type TabProps } from '../session/run-session.ts'

/** What the run has made: results, files, and the values its blocks share. */
export function OutputsTab({ session }: TabProps) {
  return (
    <div class="artifacts stack">
      <ArtifactsOutputs session={session} />
      <ArtifactsFiles session={session} />
      <ArtifactsContext session={session} />
    </div>
  )
}

/** Values of every block that has published some; the results are opened, the rest is asked for when it is. */
function ArtifactsOutputs({ session }: TabProps) {
  const { results, between } = outputBlocks(documentOf(session.answer.value)?.blocks ?? [])
  return (
    <section class="card stack">
      <h2>Results</h2>
      {results.length === 0 && <Empty>No block of this document has outputs that are not read by another.</Empty>}
      {results.map((id) => (
        <BlockOutputs key={id} session={session} blockId={id} isResult={true} />
      ))}
      {between.length > 0 && (
        <>
          <h3>Outputs on the way</h3>
          {between.map((id) => (
            <BlockOutputs key={id} session={session} blockId={id} isResult={false} />
          ))}
        </>
      )}
    </section>
  )
}

interface BlockProps extends TabProps {
  readonly blockId: string
  readonly isResult: boolean
}

function BlockOutputs({ session, blockId, isResult }: BlockProps) {
  const [isOpen, setOpen] = useState(isResult)
  const block = session.answer.value?.blocks[blockId]
  const state = block?.state ?? 'pending'
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <code>{blockId}</code> <StateMark state={state} isQuiet />
      </summary>
      <p class="small">
        <a href={hrefOf(['runs', session.runId, 'graph'], { block: blockId })}>Inspect block {blockId}</a>
      </p>
      {isOpen && state === 'completed' && (
        <Values key={`${block?.epoch} ${block?.attempt}`} runId={session.runId} blockId={blockId} />
      )}
      {state !== 'completed' && <Empty>Its outputs are published when it has completed.</Empty>}
    </details>
  )
}

function Values({ runId, blockId }: { readonly runId: string; readonly blockId: string }) {
  const params = { path: { run_id: runId, block_id: blockId } }
  const { value, problem, reload } = useAnswer(`outputs ${runId} ${blockId}`, () =>
    answerOf(api.GET('/api/dag/runs/{run_id}/outputs/{block_id}', { params })),
  )
  if (problem !== undefined) return <ProblemNotice problem={problem} retry={reload} />
  if (value === undefined) return <p class="soft">Asking for them.</p>
  return (
    <dl class="artifacts-ports">
      {Object.entries(value.outputs).map(([port, output]) => (
        <div key={port}>
          <dt>
            <code>{port}</code>
          </dt>
          <dd>
            <ValueView value={output} label={`output ${port} of ${blockId}`} />
          </dd>
        </div>
      ))}
      {Object.entries(value.refs).map(([port, stored]) => (
        <div key={port}>
          <dt>
            <code>{port}</code>
          </dt>
          <dd>
            too large to be shown here: <ObjectLink object={stored} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** Files the run has written, and those of the run it goes on from. */
function ArtifactsFiles({ session }: TabProps) {
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
          No file was written. A block with <code>handler: write-artifact</code> or <code>write-table</code> writes one.
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

/** The shared context as it is now: run inputs and what was set since, with the version a change must name. */
function ArtifactsContext({ session }: TabProps) {
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
