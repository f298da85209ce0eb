import type { Block, Dag } from '../dag/dag.ts'

/** What is wrong with how a document moves its task. */
export type TaskIssue = {
  readonly code: string
  readonly path: string
  readonly message: string
  readonly hint?: string
}

/**
 * The contract REVIEW -> DONE: a block that moves the task to DONE stands behind a reviewer's approval, which is an ai
 * block of role reviewer whose own gates must hold, or a person's. Only blocks that have to succeed count: conditions
 * over outcomes (`depends`) may let a block run after a review that failed, and skipped ones approve nothing.
 */
export function reviewIssues(dag: Dag): readonly TaskIssue[] {
  const byId = new Map(dag.blocks.map((block) => [block.id, block]))
  return dag.blocks.filter(endsTask).flatMap((block) => {
    if (block.approval !== undefined || behind(block, byId).some(approves)) return []
    const message = `Block "${block.id}" moves the task to DONE, but no reviewer approves before it. Let it wait for an ai block with agent.role reviewer and a post-gate that refuses, or give it an approval.`
    return [{ code: 'no_review', path: `blocks[${block.index}]`, message }]
  })
}

function endsTask(block: Block): boolean {
  return block.mode === 'deterministic' && block.handler === 'move-task' && block.config.to === 'DONE'
}

/** Blocks that have succeeded whenever this one runs. */
function behind(block: Block, byId: ReadonlyMap<string, Block>): readonly Block[] {
  const seen = new Set<Block>()
  const open = [block]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.depends !== undefined) continue
    for (const id of next.upstream) {
      const before = byId.get(id)
      if (before === undefined || seen.has(before)) continue
      seen.add(before)
      open.push(before)
    }
  }
  return [...seen]
}

function approves(block: Block): boolean {
  if (block.approval !== undefined) return true
  if (block.mode !== 'ai' || block.agent.route?.role !== 'reviewer') return false
  return block.gate_composition.post === 'all' && block.post_gates.some(({ on_fail }) => on_fail !== 'warn')
}
