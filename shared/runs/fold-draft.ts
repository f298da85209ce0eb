import type { ApprovalFold, BlockFold, RunFold, StepFold } from './run-fold.ts'

/** The fold while it is being made: maps, so that a block may have any name; entries are replaced, never changed. */
export interface Draft {
  seq: number
  run: Omit<RunFold, 'seq' | 'blocks' | 'steps' | 'approvals'>
  readonly blocks: Map<string, BlockFold>
  readonly steps: StepFold[]
  /** Block, item, epoch and attempt -> where the step stands in `steps`. */
  readonly positions: Map<string, number>
  readonly approvals: Map<string, ApprovalFold>
}

export function openDraft({ seq, blocks, steps, approvals, ...run }: RunFold): Draft {
  return {
    seq,
    run,
    blocks: new Map(Object.entries(blocks)),
    steps: [...steps],
    positions: new Map(steps.map((step, i) => [stepKey(step), i])),
    approvals: new Map(Object.entries(approvals)),
  }
}

export function closeDraft({ seq, run, blocks, steps, approvals }: Draft): RunFold {
  return { seq, ...run, blocks: Object.fromEntries(blocks), steps, approvals: Object.fromEntries(approvals) }
}

export function stepKey(step: Pick<StepFold, 'block_id' | 'epoch' | 'attempt' | 'item'>): string {
  return `${step.epoch}/${step.attempt}/${step.item ?? ''}/${step.block_id}`
}
