import { useState } from 'preact/hooks'
import { answerOf, api } from '../api.ts'
import { Empty, ProblemNotice } from '../parts/notice.tsx'
import { ObjectLink } from '../parts/object-link.tsx'
import { StateMark } from '../parts/state-mark.tsx'
import { ValueView } from '../parts/value-view.tsx'
import { hrefOf } from '../route.ts'
import { useAnswer } from '../use-answer.ts'
import { outputBlocks } from './artifacts-sinks.ts'
import { documentOf } from './run-document.ts'
import type { TabProps } from './tab-props.ts'

/** Values of every block that has published some; the results are opened, the rest is asked for when it is. */
export function ArtifactsOutputs({ session }: TabProps) {
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
