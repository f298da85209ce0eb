import type { Expression, Join } from './expression.ts'

/** A flat sequence of steps is what a machine or a branch of a Parallel is made of. */
export type Step =
  | { readonly kind: 'block'; readonly block: number }
  | { readonly kind: 'wait'; readonly join: Join }
  | { readonly kind: 'par'; readonly branches: readonly Steps[] }
export type Steps = readonly Step[]

/**
 * The steps of an expression: nested sequences and nested Parallels are flattened, barriers vanish, a Parallel has two
 * or more branches, ordered by their first block. A branch that only waits moves behind its Parallel, which costs no
 * time since whatever follows needs both. Recursion is as deep as Parallels nest; chains of 10,000 are loops.
 */
export function flatten(expression: Expression): Steps {
  const steps: Step[] = []
  flattenInto(expression, steps)
  return steps
}

/** Puts the steps of an expression behind others. */
export function flattenInto(expression: Expression, steps: Step[]): void {
  const open: Expression[] = []
  for (let part: Expression | undefined = expression; part !== undefined; part = open.pop()) {
    if (part.kind === 'block' || part.kind === 'wait') steps.push(part)
    else if (part.kind === 'seq') open.push(part.right, part.left)
    else if (part.kind === 'par') steps.push(...sideBySide(operands(part).map(flatten)))
  }
}

/** The parts at the same time: a Parallel, where two or more of them hold blocks. */
export function sideBySide(parts: readonly Steps[]): Steps {
  const waits: Step[] = []
  const branches: Steps[] = []
  for (const part of parts) {
    const [only] = part
    if (onlyWaits(part)) waits.push(...part)
    // A branch that is one Parallel and nothing else becomes that Parallel's branches.
    else if (part.length === 1 && only?.kind === 'par') branches.push(...only.branches)
    else branches.push(part)
  }
  if (branches.length < 2) return waits.length === 0 ? (branches[0] ?? []) : [...branches.flat(), ...waits]
  return [{ kind: 'par', branches: byFirstBlock(branches) }, ...waits]
}

/** The operands of a chain of Parallels, left to right. */
function operands(expression: Expression): readonly Expression[] {
  const parts: Expression[] = []
  const open = [expression]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.kind === 'par') open.push(next.right, next.left)
    else parts.push(next)
  }
  return parts
}

function onlyWaits(steps: Steps): boolean {
  return steps.every((step) => step.kind === 'wait')
}

function byFirstBlock(branches: readonly Steps[]): readonly Steps[] {
  const keyed = branches.map((steps) => ({ steps, key: firstBlock(steps) }))
  return keyed.sort((a, b) => a.key - b.key).map(({ steps }) => steps)
}

/** Branches of a Parallel are sorted already: its first block is the first one's. */
function firstBlock(steps: Steps): number {
  const first = steps.find((step) => step.kind !== 'wait')
  return first?.kind === 'par' ? firstBlock(first.branches[0] ?? []) : (first?.block ?? 0)
}
