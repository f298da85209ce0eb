import type { Json } from '../../../shared/canonical.ts'
import type { Machine as Definition } from '../../../shared/compile/asl.ts'
import type { Frame } from './live-execution.ts'
import { endScope, openScope } from './scope.ts'
import type { Visit } from './visit.ts'

/** Runs one line of states to its output (frame.ts; handed down so that the state files do not import it back). */
export type RunFrame = (frame: Frame, definition: Definition, input: Json) => Promise<Json>

interface Branch {
  readonly definition: Definition
  readonly input: Json
  readonly item?: Frame['item']
}

/**
 * Runs `count` branches, at most `width` at a time. The first failure ends the others: their states stop, their
 * invocations are aborted, their results are ignored. Answers the outputs in order.
 */
export async function runBranches(
  visit: Visit,
  count: number,
  width: number,
  branch: (index: number) => Branch,
  run: RunFrame,
): Promise<Json> {
  const { frame } = visit
  const { scope, release } = openScope(frame.scope)
  const outputs = new Array<Json>(count)
  let next = 0
  frame.branched = true
  const lane = async (): Promise<void> => {
    while (next < count && !scope.ended) {
      const index = next
      next += 1
      const { definition, input, item } = branch(index)
      outputs[index] = await run(branchFrame(frame, scope, index, item), definition, input)
    }
  }
  const failing = async (): Promise<void> => {
    try {
      await lane()
    } catch (error) {
      endScope(scope)
      throw error
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.min(width, count) }, failing))
    return outputs
  } finally {
    release()
  }
}

function branchFrame(frame: Frame, scope: Frame['scope'], index: number, item: Frame['item']): Frame {
  const { execution, slot } = frame
  const inherited = item ?? frame.item
  return {
    execution,
    scope,
    slot: { execution: execution.journalled, path: `${slot.path}/${index}`, batch: 0 },
    ...(inherited && { item: inherited }),
    branched: false,
  }
}
