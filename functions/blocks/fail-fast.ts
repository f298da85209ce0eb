import { endRun } from '../runs/end-run.ts'
import type { BlockCall } from './block-call.ts'

/** With the run option fail_fast, the first failed block ends the run and stops its siblings. */
export async function failFast(
  call: BlockCall,
  why: { readonly code: string; readonly reason: string },
): Promise<void> {
  if (!call.meta.options.fail_fast) return
  const { world, run, block } = call
  const reason = `Block "${block.id}" failed: ${why.reason}`
  await endRun(world, run, { state: 'failed', code: why.code, reason, block_id: block.id, stop: true })
}
