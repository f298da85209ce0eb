import { Fault, MachineSignal } from '../../shared/errors.ts'
import type { HostContext } from '../handler.ts'
import type { BlockCall } from './block-call.ts'
import type { BlockReport } from './block-report.ts'
import { failBlock } from './fail-block.ts'

/** Does a block's work; a fault nobody foresaw is recorded as its failure. */
export function guardBlock(call: BlockCall, host: HostContext, work: () => Promise<BlockReport>): Promise<BlockReport> {
  return work().catch((error: unknown) => {
    if (leavesTheFunction(error, host)) throw error
    return failBlock(call, error)
  })
}

/** The machine's own signals, what native Retry is for, and the host's own end; all else is recorded and returned. */
function leavesTheFunction(error: unknown, host: HostContext): boolean {
  if (host.signal?.aborted === true || error instanceof MachineSignal) return true
  return error instanceof Fault && error.name === 'Unavailable'
}
