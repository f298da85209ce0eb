import { answerOf, api } from '../../api.ts'
import { bytesWords } from '../../parts/format.ts'
import { ProblemNotice } from '../../parts/notice.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import { ObjectLink, ValueView } from '../../parts/value-view.tsx'
import type { RunSession } from '../session/run-session.ts'
import { type Inspected, InspectorPart } from './inspected-block.tsx'

interface OutputsProps {
  readonly inspected: Inspected
  readonly session: RunSession
}

type Stored = NonNullable<NonNullable<Inspected['fold']>['outputs']>

/** The values of its outputs: those it has published, else where they lie. */
export function InspectorOutputs({ inspected: { definition, fold, answer, state }, session }: OutputsProps) {
  const outputs = fold?.outputs
  if (outputs === undefined) {
    const ports = Object.keys(definition.outputs).join(', ')
    if (ports === '') return null
    return (
      <InspectorPart title="Outputs">
        <p class="soft">
          Its outputs will be here: <code>{ports}</code>
        </p>
      </InspectorPart>
    )
  }
  const isPublished = state === 'completed' && answer?.state === 'completed' && isSame(outputs, answer.outputs)
  return (
    <InspectorPart title="Outputs">
      {isPublished ? (
        <Values key={hashesOf(outputs)} runId={session.runId} blockId={definition.id} />
      ) : (
        <>
          <p class="soft small">Not published: only outputs of a completed block are seen by others.</p>
          <Refs outputs={outputs} />
        </>
      )}
    </InspectorPart>
  )
}

function Values({ runId, blockId }: { readonly runId: string; readonly blockId: string }) {
  const { value, problem, reload } = useAnswer(`outputs ${runId} ${blockId}`, () =>
    answerOf(
      api.GET('/api/dag/runs/{run_id}/outputs/{block_id}', { params: { path: { run_id: runId, block_id: blockId } } }),
    ),
  )
  if (problem !== undefined) return <ProblemNotice problem={problem} retry={reload} />
  if (value === undefined) return <p class="soft">Asking for them.</p>
  return (
    <div class="ports">
      {Object.entries(value.outputs).map(([port, output]) => (
        <div key={port}>
          <h4>
            <code>{port}</code>
          </h4>
          <ValueView value={output} label={`output ${port} of ${blockId}`} />
        </div>
      ))}
      {Object.keys(value.refs).length > 0 && <Refs outputs={value.refs} />}
    </div>
  )
}

function Refs({ outputs }: { readonly outputs: Stored }) {
  return (
    <dl class="facts">
      {Object.entries(outputs).map(([port, stored]) => (
        <div key={port} class="facts-row">
          <dt>
            <code>{port}</code>
          </dt>
          <dd>
            <ObjectLink object={stored} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

function isSame(a: Stored, b: Stored | undefined): boolean {
  return b !== undefined && hashesOf(a) === hashesOf(b)
}

function hashesOf(outputs: Stored): string {
  return Object.entries(outputs)
    .map(([port, { sha256 }]) => `${port} ${sha256}`)
    .sort()
    .join()
}

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
