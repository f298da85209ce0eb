import { useState } from 'preact/hooks'
import { answerOf, api } from '../api.ts'
import { ProblemNotice } from '../parts/notice.tsx'
import { ValueView } from '../parts/value-view.tsx'
import { useAnswer } from '../use-answer.ts'
import type { BlockDiff, RunDiff } from './differences.ts'

interface OutputProps {
  readonly port: string
  readonly block: BlockDiff
  readonly diff: RunDiff
}

/** The values of one output, asked for when somebody wants to see them. */
export function OutputSides({ port, block, diff }: OutputProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        Values of output <code>{port}</code>
      </summary>
      {isOpen && (
        <div class="value-sides">
          <OutputValue name="A" run_id={diff.a.run_id} side={block.a} block_id={block.block_id} port={port} />
          <OutputValue name="B" run_id={diff.b.run_id} side={block.b} block_id={block.block_id} port={port} />
        </div>
      )}
    </details>
  )
}

interface ValueProps {
  readonly name: string
  readonly run_id: string
  readonly block_id: string
  readonly port: string
  readonly side: BlockDiff['a']
}

function OutputValue({ name, run_id, block_id, port, side }: ValueProps) {
  const isThere = side !== undefined && Object.hasOwn(side.outputs, port)
  const { value, problem, reload } = useAnswer(`output ${run_id} ${block_id} ${isThere}`, async () =>
    isThere ? await askOutputs(run_id, block_id) : undefined,
  )
  return (
    <div>
      <h4>{name}</h4>
      {!isThere && <p class="empty">This run has no such output.</p>}
      {problem !== undefined && <ProblemNotice problem={problem} retry={reload} />}
      {value !== undefined && <ValueView value={value.outputs[port]} label={`output ${port} of run ${name}`} />}
    </div>
  )
}

function askOutputs(run_id: string, block_id: string) {
  const params = { path: { run_id, block_id } }
  return answerOf(api.GET('/api/dag/runs/{run_id}/outputs/{block_id}', { params }))
}
