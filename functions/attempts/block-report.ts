import { MachineSignal } from '../../shared/errors.ts'
import type { Verdict } from '../../shared/gates/gate.ts'
import { readOrdinal } from '../../shared/runs/lane.ts'
import type { BlockCall } from './block-call.ts'

/** The output of a block state, as a reader of the Step Functions console sees it: ids and numbers only. */
export interface BlockReport {
  readonly block: string
  readonly state: string
  readonly attempt: number
  /** The block's own epoch. */
  readonly epoch: number
  /** Epoch of the module, handed on to its next state. */
  readonly e?: number
  readonly gates: { readonly passed: number; readonly failed: number; readonly waived: number; readonly error: number }
  readonly failed_gates: readonly string[]
  readonly last_seq: number
}

/** Report of an attempt that ended here. */
export function reportBlock(
  { block, epoch, e }: BlockCall,
  ended: {
    readonly state: string
    readonly attempt: number
    readonly seq: number
    readonly verdicts: readonly Verdict[]
  },
): BlockReport {
  const gates = { passed: 0, failed: 0, waived: 0, error: 0 }
  for (const { status } of ended.verdicts) gates[status] += 1
  const failed = ended.verdicts
    .filter(({ status }) => status === 'failed' || status === 'error')
    .map(({ name }) => name)
  const { state, attempt, seq } = ended
  const report = { block: block.id, state, attempt, epoch, gates, failed_gates: failed, last_seq: seq }
  return e === undefined ? report : { ...report, e }
}

/** Report of a block that waits for the next pass of its bounce module. */
export function reportAwaitingBounce(call: BlockCall): BlockReport {
  return reportBlock(call, { state: 'pending', attempt: 0, seq: call.head.seq, verdicts: [] })
}

/** Report of a block whose outcome somebody recorded before, or whose run is over. */
export function reportRecorded(call: BlockCall): BlockReport {
  const { attempt, outcome } = readOrdinal(call.lane ?? 0)
  return reportBlock(call, { state: outcome ?? 'cancelled', attempt, seq: call.head.seq, verdicts: [] })
}

/** The machine comes back after `s` seconds, in the same epoch of its bounce module. */
export function retryBlock({ e }: { readonly e?: number | undefined }, s = 0): MachineSignal {
  return new MachineSignal('RetryBlock', e === undefined ? { s } : { s, e })
}

/**
 * The machine waits for a person's answer, or for the end of a pause, and comes back, in the same epoch of its bounce
 * module. `b`: the block, where many wait in one state.
 */
export function askPerson({ e }: { readonly e?: number | undefined }, b?: string): MachineSignal {
  return new MachineSignal('AskPerson', { s: 0, ...(e === undefined ? {} : { e }), ...(b === undefined ? {} : { b }) })
}
