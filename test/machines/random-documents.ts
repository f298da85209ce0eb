import type { AskingBlock } from '../../shared/compile/compile-dag.ts'
import type { CompiledBlock } from '../../shared/compile/emit-block.ts'
import type { RandomDag } from './random-dags.ts'

/** A shape with everything the language has sprinkled over its blocks; the same each time. */
export function randomDocument({ upstream }: RandomDag, random: () => number): readonly AskingBlock[] {
  const ancestors: ReadonlySet<number>[] = []
  for (const sources of upstream)
    ancestors.push(new Set(sources.flatMap((source) => [source, ...(ancestors[source] ?? [])])))
  const drawn = Math.min(1, 4 / upstream.length)
  return upstream.map((sources, v): AskingBlock => {
    const before = [...(ancestors[v] ?? [])]
    const some = () => before[Math.floor(random() * before.length)] ?? v
    const bounces = random() < drawn
    return {
      id: `b${v}`,
      upstream: sources.map((source) => `b${source}`),
      ...kindOf(random()),
      ...(random() < 0.15 ? { approval: { timeout_sec: 600 } } : {}),
      ...(random() < 0.2 ? { retry: { max_attempts: 2 } } : {}),
      ...(v % 6 === 4 ? { post_gates: [{ on_fail: 'ask' as const }] } : {}),
      ...(bounces ? { on_gate_fail: [rule(some(), random() < 0.3 ? [some()] : [])] } : {}),
    }
  })
}

function kindOf(drawn: number): Pick<CompiledBlock, 'mode' | 'foreach'> {
  if (drawn < 0.15) return { foreach: { items: ['x', 'y', 'z'], max_concurrency: 2 } }
  if (drawn < 0.3) return { mode: drawn < 0.25 ? 'dag' : 'research' }
  return {}
}

function rule(to: number, reset: readonly number[]) {
  return {
    when_gate: 'g',
    route_to: `b${to}`,
    reset_blocks: reset.map((one) => `b${one}`),
    max_bounces: 1,
    feedback_from: 'gate_verdicts' as const,
  }
}
