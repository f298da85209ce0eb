import type { BounceModule, ModuleRule } from '../dag/bounce-modules.ts'
import type { Block } from '../dag/dag.ts'
import type { HeadModule } from './head.ts'

/** A block that failed at last, with the gates that did not hold, and how often its module was sent back so far. */
export interface BounceFacts {
  readonly module: BounceModule | undefined
  readonly fired: HeadModule | undefined
  readonly block: Pick<Block, 'id' | 'pre_gates' | 'post_gates'>
  readonly gates: readonly string[]
}

/** The rule by which the block is sent back: the first that looks at one of these gates and has bounces left. */
export function dueBounceRule(failed: BounceFacts): ModuleRule | undefined {
  return rulesFor(failed).find(({ key, bounce }) => countOf(failed, key) < bounce.max_bounces)
}

/** ` after 2 of 2 bounces` when a rule looks at one of these gates and none has bounces left; else nothing. */
export function spentBounceWords(failed: BounceFacts): string {
  const [first] = rulesFor(failed)
  if (first === undefined || dueBounceRule(failed) !== undefined) return ''
  return ` after ${countOf(failed, first.key)} of ${first.bounce.max_bounces} bounces`
}

/** A gate that only warns sends nothing back. */
function rulesFor({ module, block, gates }: BounceFacts): readonly ModuleRule[] {
  const warns = new Set([...block.pre_gates, ...block.post_gates].flatMap((g) => (g.on_fail === 'warn' ? g.name : [])))
  const failed = gates.filter((name) => !warns.has(name))
  return (module?.rules ?? []).filter((rule) => rule.block === block.id && failed.includes(rule.bounce.when_gate))
}

function countOf({ fired }: BounceFacts, key: string): number {
  return fired?.rules[key]?.count ?? 0
}
